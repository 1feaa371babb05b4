// How grave the label `severity` of an alert is: rules are free to word it. Pure.

/** Words that are in use; all others are a warning under their own name. */
const CRITICAL = /^(crit(ical)?|page|error|emergency|disaster|p1|high)$/i;

export const isCritical = (severity: string | null): boolean => CRITICAL.test(severity ?? '');
