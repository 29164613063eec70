export { FactsModule } from './facts.module.js';
export { factsDefinition } from './facts.slice.js';
export { factsChannel } from './facts.channel.js';
export { FACTS_TOPIC, createFactMessageHandler } from './facts.taker.js';
export { CATALOGUE, formatRowName, OWN_RESOURCE_TYPES, CATALOGUE_ROWS } from './facts.catalogue.js';
export { factSchemas } from './facts.body.js';
