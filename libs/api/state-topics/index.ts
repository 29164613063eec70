export type { AffectedDocuments, PublishedResource, ReferencedEvent } from './published-resource.js';
export { createStateTopicsFollower, STATE_TOPICS, type StateTopicsOptions } from './state-topics.follower.js';
export { listStateTopics } from './state-topic-names.js';
export { toStateType } from './state-message.js';
export { stateTopicsDefinition } from './state-topics.definition.js';
