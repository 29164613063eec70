export { startKafka, type TestKafka } from '../servers/index.js';
export { readTopic, type TopicMessage } from './read-topic.js';
export { sampleModule, sampleEventKinds, createRecordedEvent, type SampleEvent } from './sample-events.js';
export { TOPIC_SETTINGS } from './topic-settings.js';
export { readWholeTopic, toTable } from './state-table.js';
export { sendToTopic } from './send-to-topic.js';
