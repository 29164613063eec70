import { Controller, Get, Param, Query, Req, StreamableFile } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { notFound } from '#kernel';
import { CurrentActor, type Actor } from '#access';
import { Database } from '#event-store';
import {
  document,
  JSON_API,
  pageDocument,
  pageOf,
  pageWithin,
  shownOf,
  type Document,
  type Page,
  type Query as QueryOf,
} from '#json-api';
import { Reads } from '#reads';
import { shownState, type StateRead } from './reads.events.js';
import { SplicedDocument } from './spliced.document.js';
import { byName } from './state-extract.js';
import { outputResource } from './state-versions.document.js';
import { currentStateVersion, outputFor, stateVersionFor, type OutputRow } from './state-versions.queries.js';
import { StateExtracts, type ExtractedVersion, type OutputValues } from './state.extracts.js';

type Shown = { readonly outputs: readonly OutputRow[]; readonly values: OutputValues | null };

/** Outputs of state versions. Their values go from the store to the client, piece by piece. */
@Controller('api/v2')
export class StateVersionOutputsController {
  constructor(
    private readonly database: Database,
    private readonly extracts: StateExtracts,
    private readonly reads: Reads,
  ) {}

  @Get('state-versions/:id/outputs')
  async list(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<StreamableFile> {
    const asked = pageOf(query);
    const row = await stateVersionFor(this.database, actor, 'read-state-outputs', id);
    if (row.status.startsWith('backing_data_')) throw notFound('The state is not here');
    const outputs = row.outputs.toSorted(byName);
    const values = await this.valuesOf(row, outputs);
    const lengths = outputs.map(({ name }) => values?.lengthOf(name) ?? 0);
    const page: Page = { ...asked, size: pageWithin(lengths, asked.size) };
    await this.reads.record<StateRead>(actor, row.organization, shownState(row, 'outputs'));
    return this.send({ outputs: shownOf(outputs, page), values }, (data) =>
      pageDocument(data, page, outputs.length, request.url),
    );
  }

  /** All on one page: the CLI follows none, and asks for sensitive values one by one (clients.md §7). */
  @Get('workspaces/:id/current-state-version-outputs')
  async listCurrent(
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<StreamableFile> {
    const current = await currentStateVersion(this.database, actor, 'read-state-outputs', id);
    const outputs = (current?.outputs ?? []).toSorted(byName);
    const open = outputs.filter(({ sensitive }) => !sensitive);
    const values = current && (await this.valuesOf(current, open));
    if (current) await this.reads.record<StateRead>(actor, current.organization, shownState(current, 'outputs'));
    const page = { number: 1, size: Math.max(outputs.length, 1) };
    return this.send(
      { outputs, values },
      (data) => pageDocument(data, page, outputs.length, request.url),
      ({ sensitive }) => !sensitive,
    );
  }

  @Get('state-version-outputs/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<StreamableFile> {
    const output = await outputFor(this.database, actor, id);
    const version = { id: output.stateVersion, workspace: output.workspace };
    const values = await this.valuesOf({ ...version, organization: output.organization }, [output]);
    await this.reads.record<StateRead>(actor, output.organization, shownState(version, 'outputs'));
    return this.send({ outputs: [output], values }, ([data]) => document(data ?? null));
  }

  /** Null if no value is needed: then no file is opened. */
  private async valuesOf(version: ExtractedVersion, outputs: readonly OutputRow[]): Promise<OutputValues | null> {
    return outputs.length > 0 ? this.extracts.outputs(version) : null;
  }

  private send(
    { outputs, values }: Shown,
    documentOf: (data: readonly ReturnType<typeof outputResource>[]) => Document,
    hasValue: (output: OutputRow) => boolean = () => true,
  ): StreamableFile {
    const spliced = new SplicedDocument();
    const resources = outputs.map((output) => outputResource(output, hasValue(output) ? spliced.placeholder : null));
    const names = outputs.filter(hasValue).map(({ name }) => name);
    const content = spliced.stream(documentOf(resources), values?.of(names) ?? none());
    return new StreamableFile(content, { type: JSON_API });
  }
}

const none = async function* (): AsyncGenerator<never> {};
