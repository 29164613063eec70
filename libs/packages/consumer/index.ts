export { decodeEvent, UnreadableRecordError, type CadastreEvent, type TopicRecord } from './cloud-event.js';
export type { DeadLetter } from './dead-letters.js';
export {
  decodeDocument,
  handleDocuments,
  type DocumentHandler,
  type StateDocument,
  type DocumentResource,
} from './document-handler.js';
export { handleEvents, upcastEvent, type EventHandlers, type EventOptions } from './event-handlers.js';
export { DOCUMENT_VERSIONS, EVENT_VERSIONS, type EventData, type EventType } from './event-types.js';
export type { RecordContext, RecordHandler } from './record-handler.js';
export type { ConsumerLogger } from './retry-pauses.js';
export { TransactionalConsumer, type ConsumerOptions } from './transactional-consumer.js';
