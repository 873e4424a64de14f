#include "base/release.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void reprise_release_of(const char *line, char *release, size_t size)
{
	release[0] = '\0';
	for (size_t length; *line != '\0' && *line != '\n';
	     line += length + strspn(line + length, " \t")) {
		length = strcspn(line, " \t\n");
		if (length > 0 && length < size && strspn(line, "0123456789.") == length &&
		    memchr(line, '.', length) != NULL) {
			memcpy(release, line, length);
			release[length] = '\0';
			return;
		}
	}
}

void reprise_release_read(const char *path, char *release, size_t size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	char text[256];
	ssize_t length = file >= 0 ? read(file, text, sizeof(text) - 1) : 0;

	if (file >= 0)
		close(file);
	text[length > 0 ? length : 0] = '\0';
	reprise_release_of(text, release, size);
}
