#!/usr/bin/env bash
# Creates a realm of Keycloak 26 in which people sign in to the web, and manages practices in it, as docs/guides/identity-providers.md
# describes. Every command except for "import" can be repeated.
set -euo pipefail

usage() {
  cat <<'END_OF_USAGE'
Usage: deploy/keycloak/practices.sh command

  import                       create the realm from marketplace-realm.json, with the secrets of its clients
  secrets                      set the secrets of the clients of a realm that Keycloak has imported when it started, or change them
  practice ALIAS DOMAIN NAME   add a practice: an organisation, its roles, and access for the EHR service
  member USER ALIAS ROLE       make a user a member of a practice, as org-admin or org-member
  former-member USER ALIAS     end the membership, with its roles and the user's sessions

Environment:
  KEYCLOAK_URL            such as https://id.example.com
  KEYCLOAK_CLIENT_ID      a client with a service account that may manage the realm; for "import", create realms
  KEYCLOAK_CLIENT_SECRET
  KEYCLOAK_CLIENT_REALM   the realm of that client (master)
  REALM                   the realm that people sign in to
  MARKETPLACE_WEB_URL     import: where browsers reach the web, without a slash at the end
  MARKETPLACE_WEB_CLIENT_SECRET
                          import, secrets: the secret of the client marketplace-web, of at least 32 characters
  MARKETPLACE_EHR_CLIENT_SECRET
                          import, secrets: the secret of the client ehr-service, likewise

Needs bash, curl 7.76 or newer and jq.
END_OF_USAGE
}

here=$(dirname "$0")
. "$here/admin-api.sh"

encode() {
  jq -rn --arg text "$1" '$text | @uri'
}

# The file has no secrets, so that none is known to everybody.
check_secret() {
  local secret=${!1:-}
  if [ -z "$secret" ]; then fail "$1 is missing."; fi
  if [ "${#secret}" -lt 32 ]; then fail "$1 is too short. Create one by: openssl rand -base64 32"; fi
}

# Keycloak replaces variables when it imports a file by itself, and not in what the Admin API receives.
import_realm() {
  : "${MARKETPLACE_WEB_URL:?is missing}"
  check_secret MARKETPLACE_WEB_CLIENT_SECRET
  check_secret MARKETPLACE_EHR_CLIENT_SECRET
  admin POST "" "$(MARKETPLACE_REALM=$REALM jq '
    walk(if type == "string" then gsub("\\$\\{(?<name>MARKETPLACE_[A-Z_]+)(:[^}]*)?\\}"; $ENV[.name]) else . end)
    | (.clients[] | select(.clientId == "marketplace-web")).secret = $ENV.MARKETPLACE_WEB_CLIENT_SECRET
    | (.clients[] | select(.clientId == "ehr-service")).secret = $ENV.MARKETPLACE_EHR_CLIENT_SECRET
  ' "$here/marketplace-realm.json")"
  echo "Created the realm $REALM." >&2
}

# Gives a client the secret that an environment variable has: put_secret CLIENT_ID VARIABLE
put_secret() {
  check_secret "$2"
  find_client "$1"
  if [ -z "$id" ]; then fail "The realm $REALM has no client $1."; fi
  admin GET "/$REALM/clients/$id"
  admin PUT "/$REALM/clients/$id" "$(jq --arg variable "$2" '.secret = $ENV[$variable]' <<<"$response")"
}

# Clients whose variable isn't set keep their secrets: one is rotated without the other.
set_secrets() {
  if [ -z "${MARKETPLACE_WEB_CLIENT_SECRET:-}${MARKETPLACE_EHR_CLIENT_SECRET:-}" ]; then
    fail "MARKETPLACE_WEB_CLIENT_SECRET, MARKETPLACE_EHR_CLIENT_SECRET or both are needed."
  fi
  if [ -n "${MARKETPLACE_WEB_CLIENT_SECRET:-}" ]; then put_secret marketplace-web MARKETPLACE_WEB_CLIENT_SECRET; fi
  if [ -n "${MARKETPLACE_EHR_CLIENT_SECRET:-}" ]; then put_secret ehr-service MARKETPLACE_EHR_CLIENT_SECRET; fi
  echo "The clients of the realm $REALM have the given secrets." >&2
}

# Sets `id`, which is empty if there is none: find_client CLIENT_ID
find_client() {
  admin GET "/$REALM/clients?clientId=$(encode "$1")"
  id=$(jq -r '.[0].id // ""' <<<"$response")
}

find_organisation() {
  admin GET "/$REALM/organizations?max=100000"
  id=$(jq -r --arg alias "$1" 'first(.[] | select(.alias == $alias).id) // ""' <<<"$response")
}

find_user() {
  admin GET "/$REALM/users?exact=true&username=$(encode "$1")"
  id=$(jq -r '.[0].id // ""' <<<"$response")
  if [ -z "$id" ]; then fail "The realm $REALM has no user $1."; fi
}

# Whether a user is a member of an organisation: is_member ORGANISATION_ID USER_ID
is_member() {
  admin GET "/$REALM/organizations/members/$2/organizations"
  jq -e --arg id "$1" 'any(.[]; .id == $id)' <<<"$response" >/dev/null
}

add_member() {
  if ! is_member "$1" "$2"; then admin POST "/$REALM/organizations/$1/members" "\"$2\""; fi
}

add_practice() {
  local organisation practice role
  find_organisation "$1"
  if [ -z "$id" ]; then
    admin POST "/$REALM/organizations" "$(jq -n --arg alias "$1" --arg domain "$2" --arg name "$3" \
      '{name: $name, alias: $alias, enabled: true, domains: [{name: $domain, verified: false}]}')"
    find_organisation "$1"
  fi
  organisation=$id
  find_client "$1"
  if [ -z "$id" ]; then
    admin POST "/$REALM/clients" "$(jq -n --arg alias "$1" --arg name "$3" \
      '{clientId: $alias, name: $name, description: "Its roles are those of people in this practice", bearerOnly: true}')"
    find_client "$1"
  fi
  practice=$id
  admin GET "/$REALM/clients/$practice"
  if ! jq -e '.bearerOnly and (.description // "" | endswith("roles are those of people in this practice"))' <<<"$response" >/dev/null; then
    fail "The realm $REALM has another client $1. Choose another alias."
  fi
  admin GET "/$REALM/clients/$practice/roles"
  for role in org-admin org-member; do
    if jq -e --arg role "$role" 'any(.[]; .name == $role)' <<<"$response" >/dev/null; then continue; fi
    admin POST "/$REALM/clients/$practice/roles" "{\"name\": \"$role\"}"
    admin GET "/$REALM/clients/$practice/roles"
  done
  find_client marketplace-web
  admin GET "/$REALM/clients/$practice/roles"
  admin POST "/$REALM/clients/$id/scope-mappings/clients/$practice" \
    "$(jq '[.[] | select(.name == "org-admin" or .name == "org-member")]' <<<"$response")"
  find_client ehr-service
  admin GET "/$REALM/clients/$id/service-account-user"
  add_member "$organisation" "$(jq -r .id <<<"$response")"
  echo "The realm $REALM has the practice $1." >&2
}

# Removes the roles that a user has in a practice: remove_roles USER_ID CLIENT
remove_roles() {
  admin GET "/$REALM/users/$1/role-mappings/clients/$2"
  admin DELETE "/$REALM/users/$1/role-mappings/clients/$2" "$response"
}

find_practice() {
  find_organisation "$1"
  organisation=$id
  find_client "$1"
  practice=$id
  if [ -z "$organisation" ] || [ -z "$practice" ]; then fail "The realm $REALM has no practice $1."; fi
}

put_member() {
  local user organisation practice
  case "$3" in org-admin | org-member) ;; *) fail "$3 isn't org-admin or org-member." ;; esac
  find_practice "$2"
  find_user "$1"
  user=$id
  add_member "$organisation" "$user"
  remove_roles "$user" "$practice"
  admin GET "/$REALM/clients/$practice/roles/$3"
  admin POST "/$REALM/users/$user/role-mappings/clients/$practice" "[$response]"
  echo "$1 is $3 of $2." >&2
}

remove_member() {
  local user organisation practice
  find_practice "$2"
  find_user "$1"
  user=$id
  remove_roles "$user" "$practice"
  if is_member "$organisation" "$user"; then admin DELETE "/$REALM/organizations/$organisation/members/$user"; fi
  admin POST "/$REALM/users/$user/logout"
  echo "$1 is no member of $2 any more." >&2
}

case "${1:-}" in
  --help) usage; exit 0 ;;
  import | secrets | practice | member | former-member) ;;
  *) usage >&2; exit 1 ;;
esac
: "${KEYCLOAK_URL:?is missing}" "${KEYCLOAK_CLIENT_ID:?is missing}" "${KEYCLOAK_CLIENT_SECRET:?is missing}" "${REALM:?is missing}"
case "$1" in
  import) import_realm ;;
  secrets) set_secrets ;;
  practice) add_practice "${2:?is missing: the alias}" "${3:?is missing: a domain}" "${4:?is missing: the name}" ;;
  member) put_member "${2:?is missing: the username}" "${3:?is missing: the alias}" "${4:?is missing: the role}" ;;
  former-member) remove_member "${2:?is missing: the username}" "${3:?is missing: the alias}" ;;
esac
