export { FactsModule } from './facts.module.js';
export { factsSlice } from './facts.slice.js';
export { factsChannel } from './facts.channel.js';
export { FACTS_TOPIC, factsTaker } from './facts.taker.js';
export { CATALOGUE, nameOf, OWN, ROWS } from './facts.catalogue.js';
export { factSchemas } from './facts.body.js';
