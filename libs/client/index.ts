export {
  createCadastreClient,
  describeError,
  listAllPages,
  type CadastreClient,
  type CadastreClientOptions,
} from './cadastre-client.js';
export type { RequestResource } from './request-resource.js';
