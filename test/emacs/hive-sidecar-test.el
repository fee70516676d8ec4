;;; hive-sidecar-test.el --- Starting and keeping the sidecar  -*- lexical-binding: t; -*-

;; Tags: undisturbed state-not-events

(require 'hive-test-help)

(require 'hive-rpc)

(defmacro hive-sidecar-test-failing (environment &rest body)
  "Turn Hive on with ENVIRONMENT, wait until it has given up, run BODY."
  (declare (indent 1))
  `(hive-test-with-process ,environment
     (hive-mode 1)
     (hive-test-wait 10 (eq hive-sidecar-state 'failed))
     (hive-test-wait 5 (not (hive-test-sidecars)))
     (should-not hive-rpc--start-timer)
     (hive-test-run-timers 120)
     (should (eq hive-sidecar-state 'failed))
     (should-not (hive-test-sidecars))
     ,@body))

(defun hive-sidecar-test-path (&rest programs)
  "Return a directory that holds PROGRAMS, conses of name and text."
  (let ((directory (expand-file-name "bin/" hive-test-temp)))
    (make-directory directory t)
    (pcase-dolist (`(,name . ,text) programs)
      (let ((file (expand-file-name name directory)))
        (write-region text nil file nil 'quiet)
        (set-file-modes file #o755)))
    directory))

(ert-deftest hive-sidecar-turning-on-waits-for-nothing ()
  (hive-test-with-process nil
    (hive-test-without-waiting (hive-mode 1))
    (should (eq hive-sidecar-state 'starting))))

(ert-deftest hive-sidecar-a-missing-program-is-reported-with-what-to-run ()
  (hive-test-with-process nil
    (let ((hive-sidecar-command nil) (exec-path '("/nonexistent")))
      (hive-mode 1)
      (should (eq hive-sidecar-state 'failed))
      (should (string-match-p "program .hive. was not found; install it with M-x hive-install-sidecar"
                              hive-sidecar-problem))
      (should-not hive-rpc--start-timer))
    ;; Once it is installed, a command works.
    (hive-restart)
    (hive-test-wait 10 (hive-sidecar-connected-p))))

(ert-deftest hive-sidecar-a-wrong-option-names-the-option ()
  (hive-test-with-process nil
    (let ((hive-sidecar-command '("/no/such/program" "sidecar")))
      (hive-mode 1)
      (should (string-match-p ".hive-sidecar-command." hive-sidecar-problem)))
    (let ((hive-sidecar-command nil) (hive-node-program "/no/such/node"))
      (hive-restart)
      (should (string-match-p ".hive-node-program." hive-sidecar-problem)))))

(ert-deftest hive-sidecar-the-command-is-hive-or-node-with-hive ()
  (hive-test-with-process nil
    (let* ((directory (hive-sidecar-test-path '("hive" . "#!/bin/sh\n") '("node" . "#!/bin/sh\n")))
           (exec-path (list directory))
           (hive (expand-file-name "hive" directory))
           (node (expand-file-name "node" directory)))
      (should (equal (hive-program-command) (list (executable-find "node") hive-test-fake)))
      (let ((hive-sidecar-command nil))
        (should (equal (hive-program-command) (list hive "sidecar")))
        (let ((hive-node-program node))
          (should (equal (hive-program-command) (list node hive "sidecar")))
          ;; The program of `hive install' is a shell script, which Node.js cannot run.
          (dolist (name '("bin" "current/node_modules/hive-sidecar/bin"))
            (make-directory (expand-file-name name hive-install-directory) t)
            (copy-file hive (expand-file-name (concat name "/hive") hive-install-directory)))
          (should (equal (hive-program-command)
                         (list node (expand-file-name "current/node_modules/hive-sidecar/bin/hive"
                                                      (file-truename hive-install-directory))
                               "sidecar"))))
        (should (equal (hive-program-command)
                       (list (expand-file-name "bin/hive" hive-install-directory) "sidecar")))))))

(ert-deftest hive-sidecar-serves-agents-and-the-inbox-where-the-human-wants ()
  (cl-flet ((options (serve inbox)
              (let ((hive-serve serve) (hive-serve-inbox inbox) (hive-opencode nil)
                    (hive-sidecar-command (list "sh")))
                (cdr (hive-program-sidecar)))))
    (should (equal nil (options nil t)))
    (should (equal '("--serve" "7373") (options 7373 nil)))
    (should (equal '("--serve" "7373" "--inbox") (options 7373 t)))
    (should (equal '("--serve" "7373" "--inbox" "https://hive.example.org")
                   (options 7373 "https://hive.example.org")))))

(ert-deftest hive-sidecar-without-the-path-of-a-shell-the-program-beside-the-library-is-taken ()
  (let ((found hive-program--beside))
    (hive-test-with-process nil
      ;; It is the program of this package, wherever the package is.
      (should (file-equal-p found (expand-file-name "../../bin/hive" hive-test-directory)))
      (let* ((path (hive-sidecar-test-path '("hive" . "#!/bin/sh\n")))
             (hive-program--beside (expand-file-name "hive-beside" hive-test-temp))
             (hive-sidecar-command nil)
             (exec-path '("/nonexistent")))
        (copy-file (expand-file-name "hive" path) hive-program--beside)
        (should (equal (hive-program-command) (list hive-program--beside "sidecar")))
        ;; A program on the PATH is the human's choice.
        (let ((exec-path (list path)))
          (should (equal (hive-program-command) (list (expand-file-name "hive" path) "sidecar"))))
        ;; A package without a program has none.
        (set-file-modes hive-program--beside #o600)
        (let ((said (cadr (should-error (hive-program-command) :type 'hive-program-missing))))
          (dolist (word '("exec-path" "hive-sidecar-command" "M-x hive-install-sidecar"))
            (should (string-search word said))))))))

(ert-deftest hive-sidecar-an-old-node-is-reported-in-the-words-of-bin-hive ()
  (hive-sidecar-test-failing
      (list (concat "FAKE_LAST_WORDS=hive: needs Node 24.15.0 or newer, but /usr/bin/node is 20.1.0;"
                    " install a newer Node"))
    (should (string-prefix-p "Needs Node 24.15.0 or newer, but /usr/bin/node is 20.1.0"
                             hive-sidecar-problem))
    (should (string-match-p "M-x hive-restart" hive-sidecar-problem))))

(ert-deftest hive-sidecar-a-missing-node-is-reported ()
  (hive-sidecar-test-failing (list "FAKE_LAST_WORDS=env: node: No such file" "FAKE_STATUS=127")
    (should (string-match-p ".hive-node-program." hive-sidecar-problem))))

(ert-deftest hive-sidecar-each-mismatch-of-versions-is-explained ()
  (hive-sidecar-test-failing '("FAKE_PROTOCOL=0")
    (should (string-match-p "sidecar is older.*M-x hive-install-sidecar" hive-sidecar-problem)))
  (hive-sidecar-test-failing '("FAKE_PROTOCOL=2")
    (should (string-match-p "hive-mode is older" hive-sidecar-problem))))

(ert-deftest hive-sidecar-restarts-with-growing-delays ()
  (hive-test-with-process '("FAKE_LAST_WORDS=something broke")
    (let ((delays nil) (real (symbol-function 'hive-set-timer)))
      (cl-letf (((symbol-function 'hive-set-timer)
                 (lambda (variable &optional seconds &rest call)
                   (when (and seconds (eq variable 'hive-rpc--start-timer))
                     (push seconds delays)
                     (setq seconds 0.01))
                   (apply real variable seconds call))))
        (hive-mode 1)
        (hive-test-wait 20 (= 8 (length delays)))
        (should (equal (reverse delays) '(1 2 4 8 16 32 60 60)))
        (should (string-match-p "\\`Something broke\\.  Retrying in [0-9]+ s\\'" hive-sidecar-problem))
        (hive-mode -1)))))

(ert-deftest hive-sidecar-a-problem-ends-with-one-period ()
  (let ((hive-rpc--start-timer nil) (hive-rpc--delay 2)
        (hive-sidecar-state 'off) (hive-sidecar-problem nil) (hive-sidecar-state-hook nil))
    (cl-letf (((symbol-function 'run-at-time) #'ignore))
      (hive-rpc--retry "the store is busy; try again."))
    (should (equal "The store is busy; try again.  Retrying in 2 s" hive-sidecar-problem))
    (should (equal "Hive is not connected.  The store is busy; try again.  Retrying in 2 s  (M-x hive-doctor has more)"
                   (hive-sidecar-absence)))))

(ert-deftest hive-sidecar-the-delay-is-reset-after-a-minute-of-work ()
  (hive-test-with-process nil
    (hive-test-connect)
    (setq hive-rpc--delay 32
          hive-sidecar-connected-at (- (hive-now) 61))
    (hive-rpc-request 'fake/die '(:status 1))
    (hive-test-wait 5 (eq hive-sidecar-state 'waiting))
    (should (= hive-rpc--delay 2))))

(ert-deftest hive-sidecar-comes-back-after-it-was-killed ()
  (hive-test-with-process nil
    (hive-test-connect)
    (setq hive-rpc--delay 0.1)
    (let ((ask (hive-test-call 'fake/ask nil)))
      (signal-process (car (hive-test-sidecars)) 'KILL)
      (hive-test-wait 5 (not (hive-sidecar-connected-p)))
      (hive-test-wait 10 (and (hive-sidecar-connected-p) (hive-model-complete-p)))
      (should (equal (plist-get (car (hive-prompts)) :ask_id) (plist-get ask :ask_id))))))

(ert-deftest hive-sidecar-turned-off-stays-off ()
  (hive-test-with-process '("FAKE_LAST_WORDS=something broke")
    (hive-mode 1)
    (hive-test-wait 5 (eq hive-sidecar-state 'waiting))
    (hive-mode -1)
    (hive-test-run-timers 120)
    (should (eq hive-sidecar-state 'off))
    (should-not (hive-test-sidecars))))

(ert-deftest hive-sidecar-gets-the-environment-of-emacs-and-the-store ()
  (hive-test-with-process '("CLAUDECODE=1" "CODEX_HOME=mine" "KEEP=me")
    (let ((hive-store "~/somewhere/hive.db"))
      (hive-test-connect)
      (let ((environment (hive-test-call 'fake/environment)))
        ;; From this variable the real sidecar would conclude that an agent started Emacs.
        (should (equal "1" (plist-get environment :CLAUDECODE)))
        (should (equal "me" (plist-get environment :KEEP)))
        (should (equal "mine" (plist-get environment :CODEX_HOME)))
        (should (equal (expand-file-name "~/somewhere/hive.db") (plist-get environment :HIVE_STORE)))))
    (let ((hive-store "postgres://host/db"))
      (should (member "HIVE_STORE=postgres://host/db" (hive-program-environment))))
    ;; The sidecar refuses these: no folder of Emacs is part of them.
    (dolist (store (list "hive.db" "host=h dbname=d" "$HOME/hive.db"))
      (let ((hive-store store))
        (should (member (concat "HIVE_STORE=" store) (hive-program-environment)))))))

(ert-deftest hive-sidecar-starts-in-a-buffer-whose-directory-is-gone ()
  (hive-test-with-process nil
    (let ((default-directory (expand-file-name "gone/" hive-test-temp)))
      (hive-test-connect))))
