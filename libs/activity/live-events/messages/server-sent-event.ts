/**
 * Renders one event of a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html). JSON has no line breaks.
 * Without an id, the client keeps the last one.
 */
export const renderServerSentEvent = (id: string | null, word: string, data: object): string =>
  `${id === null ? '' : `id: ${id}\n`}event: ${word}\ndata: ${JSON.stringify(data)}\n\n`;
