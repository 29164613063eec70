export { asyncApi, type InboundChannel } from './async-api.js';
export { cloudEventType, toMessage, topicOf, type LogMessage, type Origin } from './cloud-event.js';
export { inboundEvent, type InboundEvent } from './inbound-cloud-event.js';
export { Inbox, type InboxMessage, type Taker, type Verdict } from './inbox.js';
export { kafkaClient, type KafkaConnection } from './kafka-connection.js';
export { KafkaLog } from './kafka-log.js';
export { schemas, type JsonSchema } from './schemas.js';
export { topicsOf } from './topics.js';
export { publisherFollower } from './publisher.follower.js';
