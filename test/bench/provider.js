// A private provider with one version that can be installed.
import { createHash } from 'node:crypto';
import { createMessage, generateKey, readPrivateKey, sign } from 'openpgp';

const [NAME, VERSION, OS, ARCH] = ['bench', '1.0.0', 'linux', 'amd64'];

/** The response of this path says where the package is. Clients ask for it before each installation. */
export const pathOfPackage = (organization) =>
  `/api/registry/v1/providers/${organization}/${NAME}/${VERSION}/download/${OS}/${ARCH}`;

const post = async (product, path, type, attributes) =>
  JSON.parse(await product.request('POST', path, { data: { type, attributes } })).data;

const createSigner = async () => {
  const userIDs = [{ name: 'Bench', email: 'bench@example.com' }];
  const { privateKey, publicKey } = await generateKey({ type: 'rsa', rsaBits: 2_048, userIDs, format: 'armored' });
  const signingKeys = await readPrivateKey({ armoredKey: privateKey });
  const signBytes = async (binary) =>
    sign({ message: await createMessage({ binary }), signingKeys, detached: true, format: 'binary' });
  return { publicKey, signBytes };
};

export const publishProvider = async (product, organization) => {
  const { publicKey, signBytes } = await createSigner();
  const key = await post(product, '/api/registry/private/v2/gpg-keys', 'gpg-keys', {
    namespace: organization,
    'ascii-armor': publicKey,
  });
  const providers = `/api/v2/organizations/${organization}/registry-providers`;
  await post(product, providers, 'registry-providers', {
    name: NAME,
    namespace: organization,
    'registry-name': 'private',
  });
  const path = `${providers}/private/${organization}/${NAME}/versions`;
  const { links } = await post(product, path, 'registry-provider-versions', {
    version: VERSION,
    'key-id': key.attributes['key-id'],
    protocols: ['5.0'],
  });
  const archive = Buffer.from('the content of a provider');
  const filename = `terraform-provider-${NAME}_${VERSION}_${OS}_${ARCH}.zip`;
  const shasum = createHash('sha256').update(archive).digest('hex');
  const sums = Buffer.from(`${shasum}  ${filename}\n`);
  await product.upload(links['shasums-upload'], sums);
  await product.upload(links['shasums-sig-upload'], await signBytes(sums));
  const attributes = { os: OS, arch: ARCH, shasum, filename };
  const platform = await post(product, `${path}/${VERSION}/platforms`, 'registry-provider-platforms', attributes);
  await product.upload(platform.links['provider-binary-upload'], archive);
};
