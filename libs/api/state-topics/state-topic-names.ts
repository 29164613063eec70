import { toTopicName } from '#storage/message-log';
import type { PublishedResource } from './published-resource.js';

/** Returns the full names of the state topics, sorted. */
export const listStateTopics = (
  resources: readonly Pick<PublishedResource, 'topic'>[],
  prefix: string,
): readonly string[] => [...new Set(resources.map((resource) => toTopicName(resource, prefix)))].toSorted();
