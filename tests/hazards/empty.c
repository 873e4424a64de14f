/* A library with nothing in it, which stands in Reprise's place: every test of a hazard has to fail
 * with it (check_empty.py). */
_Static_assert(1, "a file has a declaration");
