import { runRedactionTask, type RedactionOutcome, type RedactionTask } from './plan-redaction.js';

/** The entry point of the thread of PlanRedactor. */
export const redactInThread = (task: RedactionTask): RedactionOutcome => runRedactionTask(task);
