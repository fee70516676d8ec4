;;; hive-doctor.el --- Installing Hive and finding its problems  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `hive-install-sidecar' runs `hive install' of a release file, of the clone
;; that this package belongs to, or of the npm registry, and shows its output.
;;
;; `hive-doctor' shows one line per check in a buffer, with advice below each
;; that failed.  Emacs never waits: results from node and from the sidecar
;; are added when they arrive.

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'hive-notify)
(require 'hive-outbox)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-text)

(defvar server-name)                   ; server.el, loaded when it is used
(defvar server-process)
(defvar compilation-finish-functions)  ; compile.el, loaded when it is used

;;;; Installing the sidecar

(defun hive-doctor--release-file ()
  "Return the newest release file next to this library, or nil."
  (let ((version (lambda (file)
                   (and (string-match "hive-sidecar-\\([0-9.]+\\)\\.tgz\\'" file)
                        (match-string 1 file)))))
    (car (sort (mapcan (lambda (directory)
                         (file-expand-wildcards
                          (expand-file-name "hive-sidecar-[0-9]*.tgz"
                                            (expand-file-name directory hive-program-directory))))
                       (list "." ".." "../release"))
               (lambda (one other)
                 (version< (funcall version other) (funcall version one)))))))

(defun hive-doctor--install-origin ()
  "Return the source of `hive-install-sidecar' if it is given none."
  (let ((above (expand-file-name ".." hive-program-directory)))
    (cond ((hive-doctor--release-file))
          ((and (file-exists-p (expand-file-name "package.json" above))
                (file-exists-p (expand-file-name "bin/hive" above)))
           above)
          (t "hive-sidecar@latest"))))

(defun hive-doctor--install-command (source)
  "Return a shell command to install SOURCE.
It has no input: without a terminal, only the program is installed."
  (let* ((words (lambda (&rest words) (mapconcat #'shell-quote-argument words " ")))
         (usual (eval (car (get 'hive-install-directory 'standard-value)) t))
         (options (unless (equal (expand-file-name usual) (expand-file-name hive-install-directory))
                    (list "--to" (directory-file-name (expand-file-name hive-install-directory)))))
         (file (and (or (file-name-absolute-p source) (file-exists-p source))
                    (expand-file-name source))))
    (concat
     "exec </dev/null; "
     (cond
      ((and file (file-exists-p (expand-file-name "scripts/run.mjs" file)))
       (apply words "npm" "--prefix" file "run" "--silent" "install-hive" "--" options))
      ((and file (file-directory-p file))
       (apply words "node" (expand-file-name "bin/hive" file) "install" options))
      ;; A release file is unpacked; npm fetches what is not a file here.
      (t (concat "folder=$(mktemp -d) && cd \"$folder\" && "
                 (if file (funcall words "tar" "-xzf" file)
                   (concat (funcall words "npm" "pack" "--silent" source) " && tar -xzf *.tgz"))
                 " && " (apply words "node" "package/bin/hive" "install" options)
                 "; status=$?; rm -rf \"$folder\"; exit $status"))))))

;;;###autoload
(defun hive-install-sidecar (&optional source)
  "Install or update Hive's program in `hive-install-directory'.
This needs Node.js with npm, and shows the output in a buffer.  If your
Node.js is too old to run Hive, a newer one is installed alongside it.
Afterwards Hive restarts with what was installed.  SOURCE is a release
file, a directory with a clone of Hive, or a package of the npm registry
with a version; a prefix argument asks for a file or directory.  By
default it is what exists, in this order: a release file in the directory
of this library or in the one above, the clone or package that this
library belongs to, the newest version in the registry."
  (interactive
   (list (and current-prefix-arg
              (expand-file-name (read-file-name
                                 (hive-words "Install from (release file or directory): ") nil nil t)))))
  (unless (executable-find "npm")
    (hive-fail "The program `npm' was not found; install Node.js 20 or newer with npm first"))
  (let ((source (or source (hive-doctor--install-origin)))
        (default-directory temporary-file-directory))
    (hive-announce "Installing Hive from %s" source)
    (with-current-buffer
        (compilation-start (hive-doctor--install-command source) nil
                           (lambda (_) "*hive install*"))
      (add-hook 'compilation-finish-functions #'hive-doctor--install-done nil t))))

(defun hive-doctor--install-done (buffer outcome)
  "Restart Hive, or point to BUFFER if OUTCOME is a failure."
  (cond ((not (string-prefix-p "finished" outcome))
         (hive-announce "Hive was not installed; the buffer %s shows why" (buffer-name buffer)))
        ((not (hive-program-installed))
         (hive-announce
          "The installation finished, but there is no program `hive' in %s; the buffer *hive install* has details"
          hive-install-directory))
        (t (hive-announce "Hive is installed")
           (unless (eq hive-sidecar-state 'off) (hive-restart)))))

;;;; A check

(cl-defstruct (hive-doctor-check (:constructor hive-doctor-check (name state text &optional advice))
                                 (:copier nil))
  "One line: a NAME, a STATE, a TEXT, and ADVICE for what is not ok.
The STATE is `ok', `note' (nothing is wrong, but there is a risk),
`not-set-up' or `broken'."
  name state text advice)

(defun hive-doctor--state (ok)
  "Return the state of a check that is OK, or else broken."
  (if ok 'ok 'broken))

;;;; Checks that Emacs makes itself

(defun hive-doctor--program ()
  "Check that the sidecar's program exists."
  (condition-case oops
      (hive-doctor-check (hive-words 'doctor-program) 'ok (string-join (hive-program-command) " "))
    (hive-program-missing
     (hive-doctor-check (hive-words 'doctor-program) 'broken (cadr oops)
                        (hive-words "Afterwards run M-x hive-restart")))))

(defun hive-doctor--sidecar ()
  "Check the handshake."
  (let ((server (plist-get hive-sidecar-info :server)))
    (if (hive-sidecar-connected-p)
        (hive-doctor-check
         (hive-words 'doctor-sidecar) 'ok
         (hive-words "%s %s, protocol %s"
                     (plist-get server :name) (plist-get server :version)
                     (plist-get hive-sidecar-info :protocol_version)))
      (hive-doctor-check
       (hive-words 'doctor-sidecar) 'broken
       (format "%s%s" hive-sidecar-state
               (if hive-sidecar-problem (concat ": " hive-sidecar-problem) ""))
       (if (eq hive-sidecar-state 'off) (hive-words "turn it on with M-x hive-mode")
         (hive-words "the buffer *hive log* has details; M-x hive-restart tries again"))))))

(defun hive-doctor--store ()
  "Report which store is in use."
  (let ((store (plist-get hive-sidecar-info :store_id)))
    (hive-doctor-check (hive-words "Store") (hive-doctor--state store)
                       (or store (hive-words "not known yet"))
                       (hive-words "Shown once the sidecar is connected"))))

(defun hive-doctor--outbox ()
  "Check the outbox: unsent and rejected answers."
  (let* ((pending (hive-outbox-entries 'pending))
         (rejected (hive-outbox-entries 'rejected))
         (unverified (hive-outbox-entries 'unverified))
         (elsewhere (cl-remove-if #'hive-outbox-sendable-p pending)))
    (cons
     (hive-doctor-check
      (hive-words "Outbox")
      (hive-doctor--state (not (or rejected elsewhere unverified)))
      (hive-words "%d unsent, %d rejected%s, in %s" (length pending) (length rejected)
                  (if unverified
                      (hive-words ", %d not signed with your key" (length unverified))
                    "")
                  (abbreviate-file-name hive-outbox-directory))
      (cond (unverified
             (hive-words "M-x hive-outbox-review shows what is not signed with your key"))
            (rejected (hive-words "M-x hive-outbox-review deletes the rejected entries"))
            (elsewhere (hive-words "%s to another store; set `hive-store' to it"
                                   (hive-count (length elsewhere)
                                               "entry belongs" "entries belong")))))
     (mapcar (lambda (entry)
               (hive-doctor-check
                (hive-words "Rejected") 'broken
                (format "%s: %S" (or (hive-outbox-entry-ask-id entry) "message")
                        (or (plist-get (hive-outbox-entry-params entry) :body)
                            (hive-respond-text (hive-outbox-entry-params entry))))
                (hive-outbox-entry-text entry)))
             rejected))))

;; A program that can talk to the server can do in this Emacs what its human can.
(defun hive-doctor--server ()
  "Check whether agents can reach this Emacs through its server.
A server is a choice, so it is not broken."
  (if (not (and (bound-and-true-p server-process) (process-live-p server-process)))
      (hive-doctor-check (hive-words "Emacs server") 'ok (hive-words "not running"))
    (hive-doctor-check
     (hive-words "Emacs server") 'note (hive-words "running as \"%s\"" server-name)
     (concat
      (hive-words "An agent that is not sandboxed can run Lisp in this Emacs with emacsclient and grant permissions in your name.  Sandbox your agents")
      (if (daemonp) ""
        (hive-words ", or stop the server with M-x server-force-delete"))))))

;;;; The buffer

(defvar-local hive-doctor--remote nil
  "Results from node and the sidecar, the cdr of a cons that is new in each run.
Its car is checking until they have arrived.")

(defun hive-doctor--insert (check)
  "Insert CHECK as a line, with its advice below when it failed."
  (let ((state (hive-doctor-check-state check)) (begin (point)))
    (insert (pcase state
              ('ok (propertize "  ok  " 'face 'hive-success))
              ('note (propertize "note  " 'face 'hive-warning))
              ('not-set-up (propertize "  --  " 'face 'hive-warning))
              (_ (propertize "FAIL  " 'face 'hive-critical)))
            (format "%-17s  " (hive-text-line (hive-doctor-check-name check) 40))
            (if (eq state 'not-set-up) (hive-words "not set up: ") "")
            (hive-text-line (hive-doctor-check-text check) 400) "\n")
    (put-text-property begin (point) 'wrap-prefix (make-string 25 ?\s))
    (when (and (not (eq state 'ok)) (hive-doctor-check-advice check))
      (insert (propertize (hive-words "        → %s" (hive-text-line (hive-doctor-check-advice check) 600))
                          'wrap-prefix (make-string 10 ?\s))
              "\n"))))

(defun hive-doctor--summary (results)
  "Return a line with the number of RESULTS in each state."
  (cl-flet ((count (&rest states)
              (cl-count-if (lambda (check) (memq (hive-doctor-check-state check) states)) results)))
    (concat (hive-words "%s: %d ok, %d not set up, %d broken." (hive-count (length results) "check")
                        (count 'ok 'note) (count 'not-set-up) (count 'broken))
            (if (eq 'checking (car hive-doctor--remote)) (hive-words "  Still checking…") ""))))

(defun hive-doctor--print (buffer)
  "Print every line into BUFFER."
  (hive-in-buffer buffer
    (hive-text-reprint
     (lambda ()
       (let ((checks (append (list (hive-doctor-check (hive-words "Emacs") 'ok emacs-version)
                                   (hive-doctor--program) (hive-doctor--sidecar))
                             ;; A sidecar that is connected checks its Node and its store itself.
                             (unless (hive-sidecar-connected-p) (list (hive-doctor--store)))
                             (hive-doctor--outbox)
                             (list (hive-doctor--server))
                             (cdr hive-doctor--remote))))
         (insert (hive-doctor--summary checks) "\n\n")
         (mapc #'hive-doctor--insert checks))
       (insert "\n" (hive-words "Press g to check again.") "\n")))))

(defun hive-doctor--add (buffer remote lines)
  "Append LINES, from node or the sidecar, to REMOTE, that of BUFFER.
If BUFFER was checked again since, they are not shown."
  (when (and (buffer-live-p buffer)
             (eq remote (buffer-local-value 'hive-doctor--remote buffer)))
    (setcar remote 'checked)
    (nconc remote lines)
    (hive-doctor--print buffer)))

;;;; Checks that node and the sidecar make

(defun hive-doctor--node-p (said)
  "Return non-nil if SAID, from \"node --version\", is recent enough."
  (and (string-match "\\`v\\([0-9]+\\.[0-9]+\\.[0-9]+\\)" said)
       (version<= hive-program-node-version (match-string 1 said))))

(defun hive-doctor--check-node (buffer)
  "Ask node for its version; the result appears in BUFFER."
  (let ((remote (buffer-local-value 'hive-doctor--remote buffer))
        (node (or (and (not hive-node-program) (hive-program-node))
                  (executable-find (or hive-node-program "node"))))
        (advice
         (hive-words "Hive needs Node.js %s or newer; install it, or set `hive-node-program'"
                     hive-program-node-version)))
    (if (not node)
        (hive-doctor--add buffer remote (list (hive-doctor-check (hive-words 'doctor-node) 'broken
                                                                 (hive-words "not found") advice)))
      (let ((default-directory "/") (said ""))
        (make-process
         :name "hive-node" :command (list node "--version") :noquery t
         :connection-type 'pipe
         :filter (lambda (_process text) (setq said (concat said text)))
         :sentinel
         (lambda (process _change)
           (unless (process-live-p process)
             (hive-rpc-later
              #'hive-doctor--add buffer remote
              (list (hive-doctor-check (hive-words 'doctor-node)
                                       (hive-doctor--state (hive-doctor--node-p said))
                                       (format "%s, %s" (string-trim said) node)
                                       advice))))))))))

(defun hive-doctor--check-sidecar (buffer)
  "Ask the sidecar to check itself; the results appear in BUFFER."
  (let ((remote (buffer-local-value 'hive-doctor--remote buffer)))
    (hive-rpc-request
     'doctor/run nil :timeout 30
     :success
     (lambda (result)
       (hive-doctor--add
        buffer remote
        (mapcar (lambda (check)
                  (hive-doctor-check (plist-get check :name)
                                     (pcase (plist-get check :state)
                                       ("ok" 'ok) ("not_set_up" 'not-set-up) (_ 'broken))
                                     (plist-get check :text)
                                     (plist-get check :advice)))
                (plist-get result :checks))))
     :error
     (lambda (err)
       (hive-doctor--add
        buffer remote
        (list (hive-doctor-check (hive-words "The sidecar's checks") 'broken
                                 (plist-get err :text))))))))

(define-derived-mode hive-doctor-mode special-mode "Hive-Doctor"
  "Major mode of the buffer that shows the checks."
  :interactive nil
  (hive-text-set-up #'hive-doctor))

;;;; Command

;;;###autoload
(defun hive-doctor ()
  "Check everything that Hive needs, and say what to do about what fails."
  (interactive)
  (let ((buffer (get-buffer-create "*hive doctor*")))
    (with-current-buffer buffer
      (hive-doctor-mode)
      (setq hive-doctor--remote (list 'checking)))
    (hive-doctor--print buffer)
    (pop-to-buffer buffer)
    (if (hive-sidecar-connected-p) (hive-doctor--check-sidecar buffer)
      (hive-doctor--check-node buffer))))

(provide 'hive-doctor)
;;; hive-doctor.el ends here
