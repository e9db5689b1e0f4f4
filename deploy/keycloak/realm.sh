#!/usr/bin/env bash
# Prepares a realm of Keycloak 26 for the EHR service, as docs/guides/keycloak.md describes. Every command can be repeated.
set -euo pipefail

usage() {
  cat <<'END'
Usage: deploy/keycloak/realm.sh command

  configure < scopes   create the realm if it is missing, a client scope for each line of standard input, the
                       policies for registration, and the attribute fhirUser of users
  initial-token DAYS CLIENTS
                       print an initial access token, for this many days and registrations
  client CLIENT_ID     print a client as Keycloak has it, as JSON
  remove < scopes      undo what "configure" did, except for the realm and the attribute. Initial access tokens end too

Environment:
  KEYCLOAK_URL            such as https://id.example.com
  KEYCLOAK_CLIENT_ID      a client with a service account that may manage the realm
  KEYCLOAK_CLIENT_SECRET
  KEYCLOAK_CLIENT_REALM   the realm of that client (master)
  REALM                   the realm that practices sign in to
  FHIR_AUDIENCE           configure: the audience of access tokens with FHIR scopes
  REGISTRATION_HOSTS      configure: host names or addresses from which clients may be registered, separated by spaces;
                          any host if it is empty
  ALLOW_LOOPBACK          configure: "true" allows redirect URIs at http://127.0.0.1, for development only

Needs bash, curl 7.76 or newer and jq.
END
}

here=$(dirname "$0")
. "$here/admin-api.sh"
policyType=org.keycloak.services.clientregistration.policy.ClientRegistrationPolicy

create_realm() {
  admin GET ""
  if jq -e --arg realm "$REALM" 'any(.[]; .realm == $realm)' <<<"$response" >/dev/null; then return; fi
  admin POST "" "$(jq -n --arg realm "$REALM" '{realm: $realm, enabled: true}')"
  echo "Created the realm $REALM." >&2
}

# Only tokens that give access to FHIR data have its audience. `fhirUser` is a claim of the ID token.
describe_scope() {
  jq -n --arg name "$1" --arg audience "$FHIR_AUDIENCE" '
    def mapper(type; config): {name: type, protocol: "openid-connect", protocolMapper: type, config: config};
    {
      name: $name,
      protocol: "openid-connect",
      attributes: {"include.in.token.scope": "true", "display.on.consent.screen": "true", "consent.screen.text": $name},
      protocolMappers: (
        if $name | test("^(patient|user|system)/") then
          [mapper("oidc-audience-mapper"; {"included.custom.audience": $audience, "access.token.claim": "true"})]
        elif $name == "fhirUser" then
          [mapper("oidc-usermodel-attribute-mapper"; {
            "user.attribute": "fhirUser", "claim.name": "fhirUser", "jsonType.label": "String", "id.token.claim": "true"
          })]
        else [] end
      )
    }'
}

create_scopes() {
  local existing scope
  admin GET "/$REALM/client-scopes"
  existing=$(jq -r '.[].name' <<<"$response")
  for scope in $1; do
    # Keycloak has no client scope for `openid`.
    if [ "$scope" = openid ] || grep -qxF -- "$scope" <<<"$existing"; then continue; fi
    admin POST "/$REALM/client-scopes" "$(describe_scope "$scope")"
  done
}

# Creates or replaces a policy for registrations with a token: put_policy PROVIDER NAME CONFIG
put_policy() {
  local policy id
  admin GET "/$REALM/components?type=$policyType"
  policy=$(jq --arg provider "$1" --arg name "$2" --arg type "$policyType" --argjson config "$3" '
    first(.[] | select(.subType == "authenticated" and .providerId == $provider))
      // {name: $name, providerId: $provider, providerType: $type, subType: "authenticated"}
    | .config = $config' <<<"$response")
  id=$(jq -r '.id // ""' <<<"$policy")
  if [ -n "$id" ]; then admin PUT "/$REALM/components/$id" "$policy"; else admin POST "/$REALM/components" "$policy"; fi
}

# `openid` has to be allowed although it is no client scope, and so have those that Keycloak itself adds to clients.
allow_scopes() {
  put_policy allowed-client-templates "Allowed Client Scopes" "$(jq -n --arg scopes "$1" '{
    "allow-default-scopes": ["false"],
    "allowed-client-scopes": (["openid", "basic", "service_account"] + ($scopes | [splits("\\s+")] | map(select(. != ""))) | unique)
  }')"
}

trust_hosts() {
  if [ -z "${REGISTRATION_HOSTS:-}" ]; then return; fi
  # Redirect URIs are at the vendors' hosts.
  put_policy trusted-hosts "Trusted Hosts" "$(jq -n --arg hosts "$REGISTRATION_HOSTS" '{
    "trusted-hosts": ($hosts | [splits("\\s+")]),
    "host-sending-registration-request-must-match": ["true"],
    "client-uris-must-match": ["false"]
  }')"
}

# Replaces the member of a list that has the same name, or removes it without a new one: put_named PATH LIST NAME [JSON]
put_named() {
  admin GET "/$REALM/client-policies/$1"
  admin PUT "/$REALM/client-policies/$1" "$(jq --arg list "$2" --arg name "$3" --argjson given "[${4:-}]" \
    '.[$list] = [.[$list][] | select(.name != $name)] + $given' <<<"$response")"
}

apply_profile() {
  local profile
  profile=$(jq --argjson loopback "${ALLOW_LOOPBACK:-false}" '
    if $loopback then (.executors[] | select(.executor == "secure-redirect-uris-enforcer").configuration) +=
      {"allow-ipv4-loopback-address": true, "allow-http-scheme": true}
    else . end' "$here/client-profile.json")
  put_named profiles profiles installed-apps "$profile"
  put_named policies policies installed-apps "$(cat "$here/client-policy.json")"
}

# Only administrators may change it: an app takes it for who the user is.
declare_attribute() {
  admin GET "/$REALM/users/profile"
  admin PUT "/$REALM/users/profile" "$(jq '
    if any(.attributes[]; .name == "fhirUser") then . else .attributes += [{
      name: "fhirUser", displayName: "FHIR user", multivalued: false, permissions: {view: ["admin"], edit: ["admin"]}
    }] end' <<<"$response")"
}

configure() {
  local scopes
  : "${FHIR_AUDIENCE:?is missing}"
  scopes=$(cat)
  create_realm
  create_scopes "$scopes"
  allow_scopes "$scopes"
  trust_hosts
  apply_profile
  declare_attribute
  echo "The realm $REALM accepts the registration of apps with $(wc -w <<<"$scopes") scopes." >&2
}

create_initial_token() {
  admin POST "/$REALM/clients-initial-access" "{\"expiration\": $(($1 * 86400)), \"count\": $2}"
  jq -r .token <<<"$response"
}

print_client() {
  admin GET "/$REALM/clients?clientId=$(jq -rn --arg id "$1" '$id | @uri')"
  jq '.[0] | if . == null then . else del(.secret) end' <<<"$response"
}

remove() {
  local scopes ids id
  scopes=$(cat)
  put_named policies policies installed-apps
  put_named profiles profiles installed-apps
  put_policy allowed-client-templates "Allowed Client Scopes" '{"allow-default-scopes": ["true"]}'
  admin GET "/$REALM/components?type=$policyType"
  ids=$(jq -r '.[] | select(.subType == "authenticated" and .providerId == "trusted-hosts").id' <<<"$response")
  for id in $ids; do admin DELETE "/$REALM/components/$id"; done
  admin GET "/$REALM/clients-initial-access"
  ids=$(jq -r '.[].id' <<<"$response")
  for id in $ids; do admin DELETE "/$REALM/clients-initial-access/$id"; done
  # Not those that Keycloak itself brings along.
  admin GET "/$REALM/client-scopes"
  ids=$(jq -r --arg scopes "$scopes" '($scopes | [splits("\\s+")]) as $names
    | .[] | select(.name | IN($names[])) | select(.name | IN("offline_access", "profile", "email", "address", "phone") | not).id' <<<"$response")
  for id in $ids; do admin DELETE "/$REALM/client-scopes/$id"; done
}

case "${1:-}" in
  --help) usage; exit 0 ;;
  configure | initial-token | client | remove) ;;
  *) usage >&2; exit 1 ;;
esac
: "${KEYCLOAK_URL:?is missing}" "${KEYCLOAK_CLIENT_ID:?is missing}" "${KEYCLOAK_CLIENT_SECRET:?is missing}" "${REALM:?is missing}"
case "$1" in
  configure) configure ;;
  initial-token) create_initial_token "${2:?is missing: for how many days}" "${3:?is missing: for how many registrations}" ;;
  client) print_client "${2:?is missing: the client_id}" ;;
  remove) remove ;;
esac
