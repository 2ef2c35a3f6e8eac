/* two_addresses — stands before the C library (LD_PRELOAD): every name has 127.0.0.2, and then
 * 127.0.0.1. */
#include <dlfcn.h>
#include <netdb.h>
#include <stddef.h>

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **out)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    (void)name;
    int rc = real("127.0.0.2", service, hints, out);
    struct addrinfo *last = rc == 0 ? *out : NULL;
    while (last != NULL && last->ai_next != NULL) {
        last = last->ai_next;
    }
    return last == NULL ? rc : real("127.0.0.1", service, hints, &last->ai_next);
}
