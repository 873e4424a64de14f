/* Put before Reprise: the program seems to have more rights than its user. */
#include <sys/auxv.h>

__attribute__((visibility("default"))) unsigned long getauxval(unsigned long type)
{
	return type == AT_SECURE;
}
