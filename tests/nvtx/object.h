#pragma once

void object_push(const char *name);
void object_pop(void);
