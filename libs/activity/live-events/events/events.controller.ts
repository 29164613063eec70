import { Controller, Get, Headers, Param, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { badRequest, parseTime } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { getParameter, type QueryParameters as QueryOf } from '#api/json-api';
import {
  ConfigureRoute,
  CurrentActor,
  loadParentOrganization,
  type Actor,
  type AuthenticatedRequest,
} from '#api/access';
import { LiveStreams, type StreamStart } from './live.streams.js';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MAX_SHOWN = 100;

const checkId = (name: string, value: string, parameter?: string): string => {
  if (UUID.test(value)) return value.toLowerCase();
  const excerpt = JSON.stringify(value.slice(0, MAX_SHOWN));
  throw badRequest(`${name}: must be the id of a message, which is a UUID, got ${excerpt}`, parameter);
};

const parseSince = (value: string): number => {
  const time = parseTime(value);
  if (time !== undefined) return time;
  const excerpt = JSON.stringify(value.slice(0, MAX_SHOWN));
  throw badRequest(`since: must be a time such as 2026-01-31T12:30:15.123Z, got ${excerpt}`, 'since');
};

/**
 * Returns where the stream starts. The last message that the client has received wins over `since`, and the header over the
 * parameter, because a browser that connects again repeats the address of its first request.
 */
const parseStart = (lastEventId: string | undefined, query: QueryOf): StreamStart => {
  if (lastEventId) return { event: checkId('Last-Event-ID', lastEventId) };
  const after = getParameter(query, 'after');
  if (after !== undefined) return { event: checkId('after', after, 'after') };
  const since = getParameter(query, 'since');
  return since === undefined ? null : { time: parseSince(since) };
};

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
    const start = parseStart(lastEventId, query);
    const { organization } = await loadParentOrganization(this.database, actor, 'read-organization', name);
    const {
      request: { address },
      ...identity
    } = actor;
    void reply.headers({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    // A stream for a HEAD request would have no reader and no end.
    if (request.method === 'HEAD') return void reply.send('');
    const credential = request.credential ?? '';
    void reply.send(await this.streams.open({ identity, credential, address: address ?? '', organization, start }));
  }
}
