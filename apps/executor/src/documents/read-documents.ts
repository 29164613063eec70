import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { z } from 'zod';
import { assessPlan } from '../output/assessed-plan.js';
import { countPlannedChanges, hasGeneratedConfiguration, hasPlannedChanges } from '../output/change-counts.js';
import { listSensitiveValues } from '../output/sensitive-values.js';
import { DOCUMENT_SEPARATOR, type DocumentResult, type DocumentTask } from './document-task.js';
import { reduceSchemas } from './used-schemas.js';

// The program that parses what code of a run has written. It is a process of its own: a document that needs too much memory
// ends only this process.

type ShownPlan = Parameters<typeof hasPlannedChanges>[0] &
  Readonly<Record<string, unknown>> & {
    readonly configuration?: { readonly root_module?: { readonly variables?: Readonly<Record<string, unknown>> } };
  };

const stateFile = z.object({ serial: z.int().min(0), lineage: z.string().min(1).max(1_024) });

const parseObject = (text: Buffer): Readonly<Record<string, unknown>> =>
  z.record(z.string(), z.unknown()).parse(JSON.parse(text.toString()));

const writeCompressed = (content: Buffer | string, path: string): Promise<void> =>
  pipeline(Readable.from([content]), createGzip(), createWriteStream(path, { flags: 'wx', mode: 0o600 }));

type PolicyInput = NonNullable<Extract<DocumentTask, { type: 'ReadPlan' }>['policyInput']>;

const writePolicyInput = ({ run, path }: PolicyInput, planText: Buffer): Promise<void> =>
  pipeline(
    Readable.from([`{"run":${JSON.stringify(run)},"plan":`, planText, '}']),
    createWriteStream(path, { flags: 'wx', mode: 0o600 }),
  );

const readPlan = async (task: Extract<DocumentTask, { type: 'ReadPlan' }>): Promise<DocumentResult<'ReadPlan'>> => {
  const content = await readFile(task.schemasAndPlan);
  const end = content.indexOf(DOCUMENT_SEPARATOR);
  const planText = content.subarray(end + 1);
  const plan = parseObject(planText) as ShownPlan;
  const counts = countPlannedChanges(plan);
  const declared = plan.configuration?.root_module?.variables ?? {};
  const schemas = reduceSchemas(parseObject(content.subarray(0, end)), plan);
  await writeCompressed(JSON.stringify(schemas), task.compressedSchemas);
  await writeCompressed(planText, task.compressedPlan);
  if (task.policyInput !== null) await writePolicyInput(task.policyInput, planText);
  return {
    counts,
    assessed: task.isRefreshOnly ? assessPlan(plan) : null,
    hasChanges: hasPlannedChanges(plan, task.isRefreshOnly),
    hasGeneratedConfiguration: hasGeneratedConfiguration(plan),
    declaredVariables: task.variables.filter((key) => Object.hasOwn(declared, key)),
    sensitiveValues: task.policyInput === null ? [] : listSensitiveValues(plan),
  };
};

const readState = async ({
  state,
}: Extract<DocumentTask, { type: 'ReadState' }>): Promise<DocumentResult<'ReadState'>> =>
  stateFile.parse(parseObject(await readFile(state)));

const perform = (task: DocumentTask): Promise<DocumentResult<DocumentTask['type']>> =>
  task.type === 'ReadPlan' ? readPlan(task) : readState(task);

const result = await perform((await json(process.stdin)) as DocumentTask);
process.stdout.write(JSON.stringify(result));
