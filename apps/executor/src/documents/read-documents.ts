import { createReadStream, createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { z } from 'zod';
import { countPlannedChanges, hasGeneratedConfiguration, hasPlannedChanges } from '../output/change-counts.js';
import type { DocumentResult, DocumentTask } from './document-task.js';
import { reduceSchemas } from './used-schemas.js';

// The program that parses what code of a run has written. It is a process of its own: a document that needs too much memory
// ends only this process.

type ShownPlan = Parameters<typeof hasPlannedChanges>[0] &
  Readonly<Record<string, unknown>> & {
    readonly configuration?: { readonly root_module?: { readonly variables?: Readonly<Record<string, unknown>> } };
  };

const stateFile = z.object({ serial: z.int().min(0), lineage: z.string().min(1).max(1_024) });

const readJson = async (path: string): Promise<Readonly<Record<string, unknown>>> =>
  z.record(z.string(), z.unknown()).parse(JSON.parse(await readFile(path, 'utf8')));

const writeCompressed = (content: Readable, path: string): Promise<void> =>
  pipeline(content, createGzip(), createWriteStream(path, { flags: 'wx', mode: 0o600 }));

const readPlan = async (task: Extract<DocumentTask, { type: 'ReadPlan' }>): Promise<DocumentResult<'ReadPlan'>> => {
  const plan = (await readJson(task.plan)) as ShownPlan;
  const counts = countPlannedChanges(plan);
  const declared = plan.configuration?.root_module?.variables ?? {};
  const schemas = reduceSchemas(await readJson(task.schemas), plan);
  await writeCompressed(Readable.from([JSON.stringify(schemas)]), task.compressedSchemas);
  await writeCompressed(createReadStream(task.plan), task.compressedPlan);
  return {
    counts,
    hasChanges: hasPlannedChanges(plan, task.isRefreshOnly),
    hasGeneratedConfiguration: hasGeneratedConfiguration(plan),
    declaredVariables: task.variables.filter((key) => Object.hasOwn(declared, key)),
  };
};

const readState = async ({
  state,
}: Extract<DocumentTask, { type: 'ReadState' }>): Promise<DocumentResult<'ReadState'>> =>
  stateFile.parse(await readJson(state));

const perform = (task: DocumentTask): Promise<DocumentResult<DocumentTask['type']>> =>
  task.type === 'ReadPlan' ? readPlan(task) : readState(task);

const result = await perform((await json(process.stdin)) as DocumentTask);
process.stdout.write(JSON.stringify(result));
