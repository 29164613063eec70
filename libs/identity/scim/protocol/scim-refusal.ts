import { Refusal } from '#platform/kernel';

/** Values of `scimType` (RFC 7644 §3.12) that the server sends. */
type ScimType =
  'uniqueness' | 'invalidFilter' | 'invalidPath' | 'invalidSyntax' | 'invalidValue' | 'mutability' | 'noTarget';

/** A refusal with a `scimType`. */
export class ScimRefusal extends Refusal {
  constructor(
    readonly scimType: ScimType,
    detail: string,
  ) {
    super(scimType === 'uniqueness' ? 'conflict' : 'bad-request', [{ detail }]);
  }
}
