import { z } from 'zod';

/** What an apply must know of its plan. It travels in the plan file. */
const runRecord = z.object({
  tool: z.enum(['terraform', 'tofu']),
  version: z.string(),
  /** The SHA-256 of the program; null in the plan files of executors that did not record it. */
  checksum: z.string().nullable().default(null),
  /** The folder that the commands of the plan saw. */
  space: z.string(),
  /** The values of the variables that the configuration declares. */
  variables: z.array(z.object({ key: z.string(), value: z.string(), hcl: z.boolean() })),
});

export type RunRecord = z.output<typeof runRecord>;

/** The name of the record in the plan file. */
export const RECORD_NAME = 'run.json';

export const parseRunRecord = (text: string): RunRecord => runRecord.parse(JSON.parse(text));
