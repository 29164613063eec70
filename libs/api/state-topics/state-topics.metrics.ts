import { Counter } from 'prom-client';

/** Metrics of state topics, served at /metrics (docs/reference/metrics.md lists them). */
export const stateTopicMetrics = {
  messages: new Counter({
    name: 'cadastre_state_topic_messages_total',
    help: 'Messages that were published to state topics: documents, and deletions without a value',
    labelNames: ['topic', 'kind'],
  }),
  unchanged: new Counter({
    name: 'cadastre_state_topic_unchanged_documents_total',
    help: 'Documents that were read after an event, and that had not changed',
    labelNames: ['topic'],
  }),
};
