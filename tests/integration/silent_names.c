/* silent_names — stands before the C library (LD_PRELOAD): no name server ever answers. */
#include <netdb.h>
#include <unistd.h>

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **out)
{
    (void)name;
    (void)service;
    (void)hints;
    (void)out;
    for (;;) {
        (void)pause();
    }
}
