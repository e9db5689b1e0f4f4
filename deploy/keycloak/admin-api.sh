# Functions for Keycloak's Admin API. The scripts in this folder include it.

token=
signedInAt=0

fail() {
  printf '%s\n' "$1" >&2
  exit 1
}

# Access tokens of administrators expire after a minute by default. Secrets aren't arguments of curl: the list of processes has those.
sign_in() {
  if [ -n "$token" ] && [ $((SECONDS - signedInAt)) -lt 20 ]; then return; fi
  local response
  response=$(printf '%s' "$KEYCLOAK_CLIENT_SECRET" | curl -sS --stderr - --fail-with-body \
    "$KEYCLOAK_URL/realms/${KEYCLOAK_CLIENT_REALM:-master}/protocol/openid-connect/token" \
    -d grant_type=client_credentials --data-urlencode "client_id=$KEYCLOAK_CLIENT_ID" --data-urlencode client_secret@-) ||
    fail "Keycloak doesn't accept KEYCLOAK_CLIENT_ID and KEYCLOAK_CLIENT_SECRET: $response"
  token=$(jq -r .access_token <<<"$response")
  signedInAt=$SECONDS
}

# Sends a request to the Admin API and sets `response`: admin METHOD PATH [JSON]
admin() {
  sign_in
  local body=()
  if [ $# -gt 2 ]; then body=(-H 'Content-Type: application/json' --data-binary @-); fi
  response=$(printf '%s' "${3:-}" | curl -sS --stderr - --fail-with-body -X "$1" "$KEYCLOAK_URL/admin/realms$2" \
    -H @<(printf 'Authorization: Bearer %s' "$token") "${body[@]}") || fail "Keycloak refused $1 /admin/realms$2: $response"
}
