import { Controller, Get, Headers, Param, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import {
  ConfigureRoute,
  CurrentActor,
  loadParentOrganization,
  type Actor,
  type AuthenticatedRequest,
} from '#api/access';
import type { QueryParameters as QueryOf } from '#api/json-api';
import { Database } from '#platform/postgres';
import { parseLastEvent } from './events.filter.js';
import { LiveStreams } from './live.streams.js';

@Controller('api/v2/organizations/:organization/events')
export class EventsController {
  constructor(
    private readonly database: Database,
    private readonly streams: LiveStreams,
  ) {}

  /** Fastify sends the stream itself: Nest would put another buffer between the stream and the response. */
  @Get()
  @ConfigureRoute({ isEndless: true, isBackground: true })
  async follow(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Req() request: AuthenticatedRequest,
    @CurrentActor() actor: Actor,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const after = parseLastEvent(lastEventId, query);
    const { organization } = await loadParentOrganization(this.database, actor, 'read-organization', name);
    const {
      request: { address },
      ...identity
    } = actor;
    void reply.headers({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    // A stream for a HEAD request would have no reader and no end.
    if (request.method === 'HEAD') return void reply.send('');
    const credential = request.credential ?? '';
    void reply.send(await this.streams.open({ identity, credential, address: address ?? '', organization, after }));
  }
}
