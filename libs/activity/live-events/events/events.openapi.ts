import { z } from 'zod';
import { describeController, describeJson } from '#api/json-api/description';
import { EventsController } from './events.controller.js';

const EVENTS = { name: 'Events', description: 'Messages about changes of an organization, as they happen.' };

const EXAMPLE = `retry: 3474

id: 0190f3a0-5d1e-7f3b-9a54-6b1f2c3d4e5f
event: ready
data: {"time":"2026-11-24T09:30:00.000Z"}

id: 0190f3a1-0c1d-7e3f-8a5b-9c6d7e8f9a0b
event: changed
data: {"id":"0190f3a1-0c1d-7e3f-8a5b-9c6d7e8f9a0b","type":"WorkspaceLocked","time":"2026-11-24T09:30:07.512Z","resource":{"type":"workspaces","id":"ws-7hQ2vXbN4kTgYw3D"},"workspace":"ws-7hQ2vXbN4kTgYw3D","project":"prj-4TqYw9RfZ2kNvXb7"}

`;

const DESCRIPTION = `The response is a stream of Server-Sent Events that stays open. Messages are in the order of the log, and only about
resources that the caller may read when the message is sent. They say what has changed and never contain the content.

| \`event\` | Meaning | Members of \`data\` |
| --- | --- | --- |
| \`ready\` | The stream starts at the present. The first message, unless the client resumes or sends \`since\`. | \`time\` |
| \`created\`, \`changed\`, \`deleted\` | A resource was created, changed or deleted. | \`id\` and \`type\` of the event, its \`time\`, \`resource\` with JSON:API type and id, \`workspace\` and \`project\` of the resource |
| \`access\` | What the caller may read has changed: reload what you show. | the same; without \`resource\` if the caller may not read it |
| \`reset\` | The client has missed too many messages (\`too-old\`), or its position is unknown (\`unknown\`): reload what you show. The stream continues at the present. | \`time\`, \`reason\` |
| \`end\` | The last message. | \`reason\`: \`access\`, \`deleted\`, \`slow\`, \`age\`, \`stopping\`, \`unavailable\` |

The \`id\` of an organization in \`resource\` is its \`external-id\`. A comment or an \`id\` without a message every 15 seconds keeps the
connection open.`;

const lastEvent = z.string().optional();

export const eventsOperations = describeController(EventsController, EVENTS, {
  follow: {
    operationId: 'followEvents',
    summary: 'Follow the changes of an organization',
    description: DESCRIPTION,
    query: {
      after: lastEvent.meta({
        description:
          'The id of the last message that the client has received, for clients that cannot send headers. The header `Last-Event-ID` wins.',
        format: 'uuid',
      }),
      since: z.string().optional().meta({
        description:
          'A time, for clients that have loaded what they show since then and have no message yet. The stream begins with the changes since this time, and has no message `ready`.',
        format: 'date-time',
      }),
    },
    headers: {
      'Last-Event-ID': lastEvent.meta({
        description: 'The id of the last message that the client has received. The stream resumes strictly after it.',
        format: 'uuid',
      }),
    },
    answer: describeJson(z.string(), {
      mediaType: 'text/event-stream',
      description: 'The stream of messages.',
      example: EXAMPLE,
    }),
    refusals: {
      'bad-request': 'The id of the last message is not a UUID, or `since` is not a time.',
      'too-many': 'The caller has as many open streams as `CADASTRE_MAX_LIVE_STREAMS_PER_CALLER` allows.',
      unavailable: 'The gateway has as many open streams as `CADASTRE_MAX_LIVE_STREAMS` allows.',
    },
  },
});
