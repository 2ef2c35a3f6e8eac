/* folder — folders that hold files which have to outlive the process. */
#ifndef ENGINE_BASE_FOLDER_H
#define ENGINE_BASE_FOLDER_H

#include <stdbool.h>

/* Makes each folder of the path that is not there, for nobody but its owner. What fails shows when
 * the folder is used. */
void folder_make(const char *path);

/* What was made, renamed or removed in it is durable. False: errno says why. */
bool folder_sync(const char *path);

#endif
