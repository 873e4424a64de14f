/* In place of Reprise: tells the program if it is paused. So a loop can take as long as a test
 * wants it to. */
int paused;

void reprise_pause(void);
void reprise_resume(void);

void reprise_pause(void)
{
	paused = 1;
}

void reprise_resume(void)
{
	paused = 0;
}
