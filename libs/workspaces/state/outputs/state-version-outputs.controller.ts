import { Controller, Get, Param, Query, Req, StreamableFile } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { notFound } from '#platform/kernel';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  renderDocument,
  JSON_API,
  renderPage,
  parsePage,
  fitPageSize,
  slicePage,
  type Document,
  type PageRequest,
  type QueryParameters as QueryOf,
} from '#api/json-api';
import { ReadRecorder } from '#api/reads';
import { createStateReadEvent, type StateRead } from '../reads.events.js';
import { StreamedDocument } from './streamed.document.js';
import { compareByName } from '../state-file/state-extract.js';
import { renderOutput } from '../state-versions/state-versions.document.js';
import {
  findCurrentStateVersion,
  findOutput,
  findStateVersion,
  type OutputRow,
} from '../state-versions/state-versions.queries.js';
import { StateExtracts, type ExtractedVersion, type OutputValues } from '../files/state.extracts.js';

type OutputsPage = { readonly outputs: readonly OutputRow[]; readonly values: OutputValues | null };

/** Serves outputs of state versions. Values are streamed from the store to the client. */
@Controller('api/v2')
export class StateVersionOutputsController {
  constructor(
    private readonly database: Database,
    private readonly extracts: StateExtracts,
    private readonly reads: ReadRecorder,
  ) {}

  @Get('state-versions/:id/outputs')
  async list(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<StreamableFile> {
    const requested = parsePage(query);
    const row = await findStateVersion(this.database, actor, 'read-state-outputs', id);
    if (row.status.startsWith('backing_data_')) throw notFound('The data of this state version is not available');
    const outputs = row.outputs.toSorted(compareByName);
    const values = await this.valuesOf(row, outputs);
    const lengths = outputs.map(({ name }) => values?.lengthOf(name) ?? 0);
    const page: PageRequest = { ...requested, size: fitPageSize(lengths, requested.size) };
    await this.reads.record<StateRead>(actor, row.organization, createStateReadEvent(row, 'outputs'));
    return this.send({ outputs: slicePage(outputs, page), values }, (data) =>
      renderPage(data, page, outputs.length, request.publicUrl),
    );
  }

  /**
   * Returns all outputs on one page, because the CLI reads only one page, and requests sensitive values one by one.
   */
  @Get('workspaces/:id/current-state-version-outputs')
  async listCurrent(
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<StreamableFile> {
    const current = await findCurrentStateVersion(this.database, actor, 'read-state-outputs', id);
    const outputs = (current?.outputs ?? []).toSorted(compareByName);
    const open = outputs.filter(({ sensitive }) => !sensitive);
    const values = current && (await this.valuesOf(current, open));
    if (current)
      await this.reads.record<StateRead>(actor, current.organization, createStateReadEvent(current, 'outputs'));
    const page = { number: 1, size: Math.max(outputs.length, 1) };
    return this.send(
      { outputs, values },
      (data) => renderPage(data, page, outputs.length, request.publicUrl),
      ({ sensitive }) => !sensitive,
    );
  }

  @Get('state-version-outputs/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<StreamableFile> {
    const output = await findOutput(this.database, actor, id);
    const version = { id: output.stateVersion, workspace: output.workspace };
    const values = await this.valuesOf({ ...version, organization: output.organization }, [output]);
    await this.reads.record<StateRead>(actor, output.organization, createStateReadEvent(version, 'outputs'));
    return this.send({ outputs: [output], values }, ([data]) => renderDocument(data ?? null));
  }

  /** Returns null without opening a file if no value is needed. */
  private async valuesOf(version: ExtractedVersion, outputs: readonly OutputRow[]): Promise<OutputValues | null> {
    return outputs.length > 0 ? this.extracts.outputs(version) : null;
  }

  private send(
    { outputs, values }: OutputsPage,
    documentOf: (data: readonly ReturnType<typeof renderOutput>[]) => Document,
    hasValue: (output: OutputRow) => boolean = () => true,
  ): StreamableFile {
    const spliced = new StreamedDocument();
    const resources = outputs.map((output) => renderOutput(output, hasValue(output) ? spliced.placeholder : null));
    const names = outputs.filter(hasValue).map(({ name }) => name);
    const content = spliced.stream(documentOf(resources), values?.of(names) ?? createEmptyStream());
    return new StreamableFile(content, { type: JSON_API });
  }
}

const createEmptyStream = async function* (): AsyncGenerator<never> {};
