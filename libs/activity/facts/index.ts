export { FactsModule, factsDefinition } from './facts.module.js';
export { factsChannel } from './facts/facts.channel.js';
export { FACTS_TOPIC, createFactMessageHandler } from './facts/facts.message-handler.js';
export { CATALOGUE, formatRowName, OWN_RESOURCE_TYPES, CATALOGUE_ROWS } from './facts/facts.catalogue.js';
export { factSchemas } from './facts/facts.body.js';
