# The function `api`, which the commands of the documentation use. In bash or zsh:
#   source docs/api.sh
# Set these three first if your server is not the one that `npm start` runs in this folder.

SERVER=${SERVER:-https://localhost:8443}
CA=${CA:-$PWD/.cadastre/tls/ca.pem}           # the certificate authorities that curl trusts
TOKEN=${TOKEN:-$(cat .cadastre/admin-token)}

# api METHOD PATH [options of curl]: sends a request with the token in TOKEN, and prints the answer.
# To send one request with another token: TOKEN=$OTHER api GET /account/details
api() {
  local method=$1 where=$2
  shift 2
  curl --silent --show-error --fail-with-body --globoff --cacert "$CA" --request "$method" "$SERVER/api/v2$where" \
    --header "Authorization: Bearer $TOKEN" --header 'Content-Type: application/vnd.api+json' "$@"
}
