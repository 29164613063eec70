import { z } from 'zod';
import { PHASES, type ClaimedPhase } from '../api/executor-api.js';

/** What an executor that was killed leaves to the next one. */
const phaseRecord = z.object({
  run: z.string(),
  phase: z.enum(PHASES),
  fence: z.number(),
  isPlanOnly: z.boolean(),
  /** With it, the job can be read again. */
  nonce: z.string(),
  /** The name of the workspace if terraform may have changed its state; null before. */
  appliedWorkspace: z.string().nullable(),
});

export type PhaseRecord = z.output<typeof phaseRecord> & ClaimedPhase;

export const parsePhaseRecord = (text: string): PhaseRecord | null => {
  try {
    return phaseRecord.parse(JSON.parse(text));
  } catch {
    return null;
  }
};
