import { describe, expect, it } from '@jest/globals';
import { defineTopic, type TopicSettings } from './topic-definition.js';
import { compareTopic, describeAction, describeDifference } from './topic-differences.js';

const DEFAULTS: TopicSettings = { partitions: 6, replicas: null, retentionDays: null };

describe('the definition of a topic', () => {
  it.each([
    [1, 1, '1'],
    [2, 2, '1'],
    [3, 3, '2'],
    [9, 3, '2'],
  ])('has, with %d brokers, %d replicas of which %s must have a message', (brokers, replicas, minInsync) => {
    const definition = defineTopic('site.runs', 'log', DEFAULTS, brokers);
    expect(definition).toMatchObject({ replicas, config: { 'min.insync.replicas': minInsync } });
  });

  it('keeps events of the log for ever, or for the days of the setting', () => {
    const retentionOf = (retentionDays: number | null) =>
      defineTopic('site.runs', 'log', { ...DEFAULTS, retentionDays }, 1).config['retention.ms'];
    expect([retentionOf(null), retentionOf(90)]).toEqual(['-1', '7776000000']);
  });

  it('keeps messages of other services for a month, whatever the setting', () => {
    const { config } = defineTopic('site.facts', 'inbound', { ...DEFAULTS, retentionDays: 1 }, 1);
    expect(config).toMatchObject({ 'retention.ms': '2592000000', 'compression.type': 'gzip' });
  });
});

describe('a topic of the cluster', () => {
  const definition = defineTopic('site.runs', 'log', DEFAULTS, 1);
  const existing = { partitions: 6, replicas: 1, config: { ...definition.config, 'segment.bytes': '1073741824' } };

  it('agrees with the settings whatever its other values', () => {
    expect(compareTopic(definition, existing)).toEqual([]);
  });

  it('is created if it is missing', () => {
    const [difference, ...others] = compareTopic(definition, undefined);
    expect(others).toEqual([]);
    expect(difference && [describeDifference(difference), describeAction(difference)]).toEqual([
      'site.runs: does not exist',
      'create site.runs: 6 partitions with 1 replica',
    ]);
  });

  it('is configured if a value differs, and keeps its partitions and replicas', () => {
    const config = { ...existing.config, 'retention.ms': '60000' };
    const differences = compareTopic(definition, { partitions: 1, replicas: 3, config });
    expect(differences.map(describeDifference)).toEqual([
      'site.runs: partitions is 1, not 6',
      'site.runs: replicas is 3, not 1',
      'site.runs: retention.ms is 60000, not -1',
    ]);
    expect(differences.map(describeAction)).toEqual([
      expect.stringMatching(/^keep site\.runs: partitions stays 1 instead of 6; .*KAFKA_TOPIC_PARTITIONS/),
      expect.stringMatching(/^keep site\.runs: replicas stays 3 instead of 1; .*KAFKA_TOPIC_REPLICAS/),
      'change site.runs: retention.ms from 60000 to -1',
    ]);
  });
});
