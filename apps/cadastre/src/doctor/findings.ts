type FindingResult = 'ok' | 'warning' | 'FAILED';

/** One line of the report. `detail` says what to do unless the result is ok. */
export type Finding = { readonly result: FindingResult; readonly check: string; readonly detail: string };

export const reportOk = (check: string, detail: string): Finding => ({ result: 'ok', check, detail });
export const reportWarning = (check: string, detail: string): Finding => ({ result: 'warning', check, detail });
export const reportFailed = (check: string, detail: string): Finding => ({ result: 'FAILED', check, detail });
