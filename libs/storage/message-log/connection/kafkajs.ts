import { createRequire } from 'node:module';
import type * as kafkajs from 'kafkajs';

const load = createRequire(import.meta.url);

/** Loads kafkajs when the first client is created. It takes 5 MB of memory, and a site without Kafka never needs it. */
export const loadKafkajs = (): typeof kafkajs => load('kafkajs') as typeof kafkajs;
