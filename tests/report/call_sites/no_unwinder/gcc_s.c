/* A libgcc_s.so.1 that has nothing in it. */
extern const char nothing;
__attribute__((visibility("default"))) const char nothing = 0;
