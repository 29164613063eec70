import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { notFound } from '#kernel';
import { CurrentActor, type Actor } from '#access';
import { Database } from '#event-store';
import { document, pageDocument, pageOf, shownOf, type Document, type Query as QueryOf } from '#json-api';
import { Reads } from '#reads';
import { shownState, type StateRead } from './reads.events.js';
import { outputResource } from './state-versions.document.js';
import { currentStateVersion, outputFor, stateVersionFor, type OutputRow } from './state-versions.queries.js';
import { StateFiles } from './state.files.js';

/** Outputs of state versions. Their values are read from the state file at each request and kept nowhere else. */
@Controller('api/v2')
export class StateVersionOutputsController {
  constructor(
    private readonly database: Database,
    private readonly files: StateFiles,
    private readonly reads: Reads,
  ) {}

  @Get('state-versions/:id/outputs')
  async list(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = pageOf(query);
    const row = await stateVersionFor(this.database, actor, 'read-state-outputs', id);
    if (row.status.startsWith('backing_data_')) throw notFound('The state is not here');
    const { outputs } = row;
    const shown = shownOf(outputs, page);
    const values = await this.valuesOf(id, shown);
    await this.reads.record<StateRead>(actor, row.organization, shownState(row, 'outputs'));
    const data = shown.map((output) => outputResource(output, values.get(output.name)));
    return pageDocument(data, page, outputs.length, request.url);
  }

  /** All on one page: the CLI follows none, and asks for sensitive values one by one (clients.md §7). */
  @Get('workspaces/:id/current-state-version-outputs')
  async listCurrent(
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const current = await currentStateVersion(this.database, actor, 'read-state-outputs', id);
    const outputs = current?.outputs ?? [];
    const open = outputs.filter(({ sensitive }) => !sensitive);
    const values = await this.valuesOf(current?.id ?? '', open);
    if (current) await this.reads.record<StateRead>(actor, current.organization, shownState(current, 'outputs'));
    const data = outputs.map((output) =>
      outputResource(output, output.sensitive ? null : (values.get(output.name) ?? null)),
    );
    return pageDocument(data, { number: 1, size: Math.max(outputs.length, 1) }, outputs.length, request.url);
  }

  @Get('state-version-outputs/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    const output = await outputFor(this.database, actor, id);
    const values = await this.valuesOf(output.stateVersion, [output]);
    const version = { id: output.stateVersion, workspace: output.workspace };
    await this.reads.record<StateRead>(actor, output.organization, shownState(version, 'outputs'));
    return document(outputResource(output, values.get(output.name)));
  }

  /** The file is opened only where a value is wanted of it. */
  private async valuesOf(stateVersion: string, outputs: readonly OutputRow[]): Promise<ReadonlyMap<string, unknown>> {
    return outputs.length > 0 ? this.files.outputValues(stateVersion) : new Map<string, unknown>();
  }
}
