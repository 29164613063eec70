import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  identifiersBody,
  renderPage,
  parsePage,
  getParameter,
  parseBody,
  type Document,
  type QueryParameters as QueryOf,
  LIST_BODY_BYTES,
} from '#api/json-api';
import { ChangeWorkspace } from '../workspaces/workspaces.commands.js';
import type { ConsumerCommand } from './remote-state-consumers.js';
import { listConsumers } from './remote-state-consumers.view.js';
import { listSources } from './remote-state-sources.queries.js';
import { renderWorkspace } from '../workspaces/workspaces.document.js';

/** A list is replaced as a whole, so it may be longer than other bodies. */
export const body = identifiersBody('workspaces', 1_000);

const PATH = 'workspaces/:id/relationships/remote-state-consumers';

type ListRemoteStates = typeof listConsumers;

/** Lists and changes the workspaces that may read the state of another workspace, and lists the states that one may read. */
@Controller('api/v2')
export class RemoteStateConsumersController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get(PATH)
  list(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.answer(listConsumers, id, query, { request, actor });
  }

  @Get('workspaces/:id/relationships/remote-state-sources')
  listSources(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.answer(listSources, id, query, { request, actor });
  }

  @Post(PATH)
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  @HttpCode(204)
  add(@Param('id') id: string, @Body() input: unknown, @CurrentActor() actor: Actor): Promise<void> {
    return this.change('AddRemoteStateConsumers', id, input, actor);
  }

  @Patch(PATH)
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  @HttpCode(204)
  replace(@Param('id') id: string, @Body() input: unknown, @CurrentActor() actor: Actor): Promise<void> {
    return this.change('ReplaceRemoteStateConsumers', id, input, actor);
  }

  @Delete(PATH)
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  @HttpCode(204)
  remove(@Param('id') id: string, @Body() input: unknown, @CurrentActor() actor: Actor): Promise<void> {
    return this.change('RemoveRemoteStateConsumers', id, input, actor);
  }

  private async answer(
    list: ListRemoteStates,
    id: string,
    query: QueryOf,
    { request, actor }: { readonly request: FastifyRequest; readonly actor: Actor },
  ): Promise<Document> {
    const page = parsePage(query);
    const configured = getParameter(query, 'show_only_configured') === 'true';
    const { rows, total } = await list(this.database, actor, id, page, configured);
    const data = rows.map((row) => renderWorkspace(row, actor));
    return renderPage(data, page, total, request.publicUrl);
  }

  private async change(type: ConsumerCommand['type'], id: string, input: unknown, actor: Actor): Promise<void> {
    const consumers = parseBody(body, input).data.map((consumer) => consumer.id);
    await this.bus.execute(new ChangeWorkspace(type, { workspace: id, consumers, actor }));
  }
}
