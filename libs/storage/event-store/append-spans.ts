import type { SpanDescription } from '#platform/tracing';
import type { StreamWrite } from './writes.js';

/** The ids of streams begin with the type of the resource: `ws-…`. The rest can contain names of other services. */
const getStreamType = (stream: string): string => /^[a-z]+/.exec(stream)?.[0] ?? 'other';

/** Describes an append for its span, without ids and data. */
export const describeAppend = (writes: readonly Pick<StreamWrite, 'stream' | 'events'>[]): SpanDescription => {
  const written = writes.filter(({ events }) => events.length > 0);
  const events = written.flatMap((write) => write.events);
  return {
    attributes: {
      'cadastre.stream.types': [...new Set(written.map(({ stream }) => getStreamType(stream)))],
      'cadastre.event.types': [...new Set(events.map(({ type }) => type))],
      'cadastre.events': events.length,
    },
  };
};
