import { z } from 'zod';
import { resourceBody, text } from '#api/json-api';
import { MAX_OUTCOMES, OUTCOME_LEVELS, REPORTED_RESULTS } from '../task-stages/run-task-stage.js';

const MIB = 1_048_576;
/** Bytes of a whole report. */
export const MAX_REPORT_BYTES = 6 * MIB;
/** Characters of the text of an outcome. */
const MAX_BODY = MIB;
/** Bytes of all outcomes of a report in its event, which has at most 768 KiB. */
const MAX_OUTCOMES_BYTES = 512 * 1_024;

const MAX_TAGS = 20;

const tag = z.object({ label: text(100), level: z.enum(OUTCOME_LEVELS).default('none') });

const address = text(2_048).refine((url) => url === '' || /^https?:\/\//.test(url), {
  error: 'Url must be an address that begins with https:// or http://',
});

const outcome = z.object({
  type: z.literal('task-result-outcomes'),
  attributes: z.object({
    'outcome-id': text(255),
    description: text(1_000).default(''),
    body: text(MAX_BODY).nullish(),
    url: address.nullish(),
    tags: z
      .record(text(100), z.array(tag).max(MAX_TAGS, { error: `too many, at most ${MAX_TAGS} of them` }))
      .refine((tags) => Object.keys(tags).length <= MAX_TAGS, { error: `Tags has more than ${MAX_TAGS} names` })
      .nullish(),
  }),
});

/** Returns the bytes of the outcomes in the event of the report. Their bodies are stored elsewhere. */
const countEventBytes = (outcomes: readonly z.infer<typeof outcome>[]): number =>
  Buffer.byteLength(JSON.stringify(outcomes.map(({ attributes: { body: _body, ...inEvent } }) => inEvent)));

export const taskReportBody = resourceBody(
  'task-results',
  z.object({
    status: z.enum(REPORTED_RESULTS),
    message: text(1_000).nullish(),
    url: address.nullish(),
  }),
  z
    .object({
      outcomes: z
        .object({
          data: z
            .array(outcome)
            .max(MAX_OUTCOMES, { error: `too many, at most ${MAX_OUTCOMES} of them` })
            .refine((outcomes) => countEventBytes(outcomes) <= MAX_OUTCOMES_BYTES, {
              error: `Outcomes: too long, at most ${MAX_OUTCOMES_BYTES} bytes in all, without their bodies`,
            })
            .nullish(),
        })
        .nullish(),
    })
    .nullish(),
);
