;;; hive-absence-test.el --- Messages while no sidecar runs  -*- lexical-binding: t; -*-

;; Tags: state-not-events

(require 'hive-history)
(require 'hive-list-test-help)
(require 'hive-mentions)
(require 'hive-outreach)
(require 'hive-sessions)
(require 'hive-shared)
(require 'hive-test-help)

(defun hive-absence-test-says (regexp &rest commands)
  "Each of COMMANDS fails with a sentence that REGEXP matches."
  (dolist (command commands)
    (ert-info ((symbol-name command))
      (should (string-match-p regexp (cadr (should-error (call-interactively command)
                                                         :type 'user-error)))))))

(defun hive-absence-test-note ()
  "Return the text of the empty list."
  (with-current-buffer "*hive*"
    (mapconcat (lambda (overlay) (overlay-get overlay 'after-string))
               (overlays-in (point-min) (point-max)) "")))

(defconst hive-absence-test-commands
  '(hive-next hive-respond hive-interrupt hive-interrupt-all hive-session-visit
    hive-check-mentions)
  "Commands that would otherwise report an empty list.")

(ert-deftest hive-absence-no-command-claims-that-nothing-is-there ()
  (hive-test-with-desk nil
    (apply #'hive-absence-test-says "Hive is off; .*M-x hive-mode" hive-absence-test-commands)
    (let ((hive-sidecar-command '("/no/such")))
      (hive-mode 1)
      (apply #'hive-absence-test-says "not connected\\.  .*not found.*M-x hive-doctor has more"
             hive-absence-test-commands))))

(ert-deftest hive-absence-what-was-asked-for-says-where-to-look ()
  (hive-test-with-desk nil
    (let ((problem nil))
      (hive-rpc-request 'prompt/list nil :error (lambda (err) (setq problem err)))
      (hive-test-wait 5 problem)
      (should (string-match-p "M-x hive-doctor" (plist-get problem :text))))))

(ert-deftest hive-absence-the-empty-list-says-why-it-is-empty ()
  (hive-test-with-desk nil
    (hive-list-test
      (hive-list)
      (should (string-match-p "Hive is off; .*M-x hive-mode" (hive-absence-test-note)))
      (let ((hive-sidecar-command '("/no/such")))
        (hive-mode 1)
        (should (string-match-p "not connected\\.  .*M-x hive-doctor" (hive-absence-test-note))))
      (hive-restart)
      (hive-test-wait 10 (and (hive-sidecar-connected-p) (hive-model-complete-p)))
      (hive-test-wait 5 (equal " No questions are pending." (hive-absence-test-note)))
      ;; It is not a line of the list, and disappears when the list has one.
      (should (null (hive-list-test-lines)))
      (hive-test-call 'fake/ask nil)
      (hive-test-wait 5 (hive-list-test-lines))
      (should (equal "" (hive-absence-test-note))))))

(ert-deftest hive-absence-the-empty-status-says-why-it-is-empty ()
  (hive-test-with-desk nil
    (hive-list-test
      (hive)
      (should (string-match-p "Hive is off; .*M-x hive-mode" (hive-absence-test-note)))
      (hive-sessions)
      (should (string-match-p "Hive is off; .*M-x hive-mode" (hive-absence-test-note)))
      (hive)
      (hive-test-connect)
      (hive-test-wait 5 (equal " Nothing needs you, and no agents are online."
                               (hive-absence-test-note)))
      (hive-test-call 'fake/ask nil)
      (hive-test-wait 5 (hive-list-test-lines))
      (should (equal "" (hive-absence-test-note))))))

(ert-deftest hive-absence-an-empty-list-claims-nothing-before-it-knows ()
  (hive-test-with-desk nil
    (hive-list-test
      (pcase-dolist (`(,method ,result ,name ,command ,again ,fails ,empty)
                     `(("mention/list" (:mentions []) "*hive-mentions: Human*" ,#'hive-check-mentions
                        ,#'revert-buffer "Hive could not fetch the mentions: .*Busy" "No open mentions\\.")
                       ("outreach/list" (:outreach []) "*hive outreach*" ,#'hive-outreach
                        ,#'revert-buffer "Hive could not fetch the cards.*Busy" "No agent has sent a ping, card or report yet\\.")
                       ("history/search" (:entries []) "*hive history*" ,(lambda () (hive-history ""))
                        ,#'revert-buffer "Hive could not search the history: .*Busy" "Nothing was found\\.")
                       ("prompt/list" (:prompts [] :total 0) "*hive*"
                        ,(lambda () (hive-list) (hive-list--go 'answered nil))
                        ,#'hive-list--renew "Hive could not fetch the list: .*Busy" "No answered questions\\.")))
        (ert-info (name)
          (cl-flet ((says () (with-current-buffer name
                               (concat (buffer-string)
                                       (mapconcat (lambda (overlay) (overlay-get overlay 'after-string))
                                                  (overlays-in (point-min) (point-max)) "")))))
            (when (eq command #'hive-outreach)
              (funcall command)
              (should (string-match-p "Hive is off" (says)))
              (kill-buffer name))
            (hive-test-connect)
            (hive-test-call 'fake/result (list :method method :result result))
            (hive-test-call 'fake/plan (list :method method
                                             :outcomes [(:code -32001 :message "store_busy: Busy.")]))
            (funcall command)
            (should (string-match-p "Loading…" (says)))
            (hive-test-wait 5 (string-match-p fails (says)))
            (with-current-buffer name (funcall again))
            (hive-test-wait 5 (string-match-p empty (says)))
            (should-not (string-match-p fails (says)))
            (hive-mode -1)
            (kill-buffer name)))))))
