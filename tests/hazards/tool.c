/* Put before Reprise, under the name of a library that some tool injects: it does nothing but be
 * there. */
int reprise_test_tool;
