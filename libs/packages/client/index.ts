export {
  createCadastreClient,
  describeError,
  listAllPages,
  type CadastreClient,
  type CadastreClientOptions,
} from './cadastre-client.js';
export type { ApiResource, RequestResource } from './request-resource.js';
