import { classifyEntry, OCSF_CLASSES, OTHER_ACTIVITY, type OcsfClass } from './ocsf-classes.js';
import { findMetaText, formatEventCode, isFailedSignIn, type ShownEntry } from './shown-entry.js';

/** The version of OCSF that events conform to. */
const OCSF_VERSION = '1.8.0';

const PRODUCT = 'Cadastre';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type OcsfObject = { readonly [name: string]: Json };

const INFORMATIONAL = 1;
const SUCCESS = 1;
const FAILURE = 2;
const PERSON = 1;
const SYSTEM = 3;
const SERVICE = 4;

/** Returns the value without null members at any depth: OCSF omits what has no value. */
const omitNulls = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(omitNulls);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (member === null ? [] : [[name, omitNulls(member)]])),
  );
};

const getActorType = (id: string, authType: string): number => {
  if (id.startsWith('user-')) return PERSON;
  return authType === 'System' ? SYSTEM : SERVICE;
};

const renderActor = ({ auth }: ShownEntry): OcsfObject => ({
  user: { uid: auth.accessor_id, name: auth.description, type_id: getActorType(auth.accessor_id, auth.type) },
});

/** Events without an address come from the server itself, or the operator hides details of clients. */
const renderSource = ({ request }: ShownEntry): OcsfObject =>
  request.address ? { ip: request.address } : { svc_name: PRODUCT };

const renderRequest = ({ request }: ShownEntry): Json =>
  request.user_agent ? { uid: request.id, user_agent: request.user_agent } : null;

/** Returns the person that the entry is about. Refused sign-ins with an unknown name are about nobody. */
const renderSubject = (entry: ShownEntry): OcsfObject => {
  const uid = entry.resource.type === 'user' ? entry.resource.id : findMetaText(entry, 'user_id');
  const name = findMetaText(entry, 'user');
  return uid === null && name === null ? { name: 'unknown' } : { uid, name };
};

const renderResource = (entry: ShownEntry): OcsfObject => ({
  uid: entry.resource.id,
  type: entry.resource.type,
  name: findMetaText(entry, 'name'),
});

const isGrant = ({ resource: { type } }: ShownEntry): boolean => type !== 'team' && type !== 'scim_group';

/** A grant is about the team, on the resource of the entry; other entries are about the group itself. */
const renderGroup = (entry: ShownEntry): OcsfObject => {
  if (!isGrant(entry)) return { group: renderResource(entry), user: renderMember(entry) };
  const permissions = findMetaText(entry, 'permissions');
  return {
    group: { name: findMetaText(entry, 'team'), type: 'team' },
    resource: renderResource(entry),
    privileges: permissions === null ? null : [permissions],
  };
};

const renderMember = (entry: ShownEntry): Json => {
  const name = findMetaText(entry, 'user');
  return name === null ? null : { name };
};

const renderPrivileges = ({ resource: { type } }: ShownEntry): readonly string[] => [
  type === 'user' ? 'site administrator' : 'member of the organization',
];

/** The members that only events of one class have. */
const CLASS_MEMBERS: Readonly<Record<OcsfClass, (entry: ShownEntry) => OcsfObject>> = {
  accountChange: (entry) => ({ user: renderSubject(entry) }),
  authentication: (entry) => ({
    user: renderSubject(entry),
    service: { name: PRODUCT },
    session: entry.resource.type === 'session' ? { uid: entry.resource.id } : null,
    status_detail: findMetaText(entry, 'reason'),
  }),
  entityManagement: (entry) => ({ entity: renderResource(entry) }),
  userAccess: (entry) => ({ user: renderSubject(entry), privileges: renderPrivileges(entry) }),
  groupManagement: renderGroup,
  apiActivity: (entry) => ({
    api: { operation: formatEventCode(entry), service: { name: PRODUCT } },
    resources: [renderResource(entry)],
  }),
};

const renderUnmapped = ({ auth, resource, request }: ShownEntry, name: OcsfClass): Json => ({
  auth_type: auth.type,
  impersonator_id: auth.impersonator_id,
  // This class has no member for the address.
  address: name === 'entityManagement' ? (request.address ?? null) : null,
  meta: resource.meta as Json,
});

/** Returns an entry as an event of OCSF. The metadata of the entry is in `unmapped.meta`. */
export const renderOcsf = (entry: ShownEntry, productVersion: string): unknown => {
  const { class: name, activity } = classifyEntry(entry);
  const uid = OCSF_CLASSES[name];
  return omitNulls({
    category_uid: Math.floor(uid / 1_000),
    class_uid: uid,
    activity_id: activity,
    activity_name: activity === OTHER_ACTIVITY ? entry.resource.action : null,
    type_uid: uid * 100 + activity,
    severity_id: INFORMATIONAL,
    status_id: isFailedSignIn(entry) ? FAILURE : SUCCESS,
    time: Date.parse(entry.timestamp),
    message: `${entry.auth.description}: ${entry.resource.action} ${entry.resource.type} ${entry.resource.id}`,
    metadata: {
      version: OCSF_VERSION,
      product: { name: PRODUCT, vendor_name: PRODUCT, version: productVersion },
      uid: entry.id,
      event_code: formatEventCode(entry),
      correlation_uid: entry.request.id,
      tenant_uid: entry.auth.organization_id,
      log_name: 'audit-trail',
    },
    actor: renderActor(entry),
    src_endpoint: name === 'entityManagement' ? null : renderSource(entry),
    http_request: renderRequest(entry),
    ...CLASS_MEMBERS[name](entry),
    unmapped: renderUnmapped(entry, name),
  });
};
