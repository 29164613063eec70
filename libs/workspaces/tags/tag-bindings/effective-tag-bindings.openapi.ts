import { asOfParameter, describeController, describeList } from '#api/json-api/description';
import { EffectiveTagBindingsController } from './effective-tag-bindings.controller.js';
import { TAG_BINDINGS } from './tag-bindings.openapi.js';

export const effectiveTagBindingsOperations = describeController(EffectiveTagBindingsController, TAG_BINDINGS, {
  ofWorkspace: {
    operationId: 'listEffectiveWorkspaceTagBindings',
    summary: 'List the own and inherited tag bindings of a workspace',
    query: asOfParameter(),
    answer: describeList('EffectiveTagBinding'),
  },
  ofProject: {
    operationId: 'listEffectiveProjectTagBindings',
    summary: 'List the effective tag bindings of a project',
    description: 'These are its own bindings, because projects inherit nothing.',
    query: asOfParameter(),
    answer: describeList('EffectiveTagBinding'),
  },
});
